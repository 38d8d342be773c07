import "../reading/page";
import { Case } from "./case";
import { actionOf } from "./keys";

// The review page works by its forms alone; this gives it keys and folds what everybody agrees on.
const table = document.querySelector<HTMLTableElement>("table.case");
if (table) {
  const open = new Case(table);
  open.start();
  document.addEventListener("keydown", (event) => {
    const action = actionOf(event);
    if (action && open.perform(action)) event.preventDefault();
  });
}
