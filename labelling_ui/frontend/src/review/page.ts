import "../reading/page";
import { Case } from "./case";
import { actionOf, type Keys } from "./keys";
import { rateCritiques } from "./critiques";
import { letMarksGo, lightMarks } from "./marks";

// The review page works by its forms alone; this gives it keys and marks, and folds what everybody agrees on.
const table = document.querySelector<HTMLTableElement>("table.case");
if (table) {
  const open = new Case(table);
  const keys = JSON.parse(table.dataset.keys ?? "{}") as Keys;
  open.start();
  letMarksGo(table);
  rateCritiques(table);
  for (const row of table.tBodies[0]!.rows) lightMarks(row);
  document.addEventListener("keydown", (event) => {
    const action = actionOf(event, keys);
    if (action && open.perform(action)) event.preventDefault();
  });
}
