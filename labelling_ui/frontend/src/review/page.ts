import "../reading/page";
import { choosing, type GroupPress } from "../ui/keyboard";
import { Case } from "./case";
import { actionOf, type Keys } from "./keys";
import { keepDraft } from "./draft";
import { letMarksGo, lightMarks } from "./marks";

// The review page works by its forms alone. This adds keys and marks, and folds what everybody agrees on.
const table = document.querySelector<HTMLTableElement>("table.case");
if (table) {
  const open = new Case(table);
  const keys = JSON.parse(table.dataset.keys ?? "{}") as Keys;
  keepDraft(document.querySelector<HTMLFormElement>("form#decide")!, table);
  open.start();
  letMarksGo(table);
  rateCritiques(table);
  for (const row of table.tBodies[0]!.rows) lightMarks(row);
  document.addEventListener("keydown", (event) => {
    const action = actionOf(event, keys);
    if (action && open.perform(action)) event.preventDefault();
  });
}

/** Keys inside a given critique: they rate it and move to the next unrated one, else back to the step. */
function rateCritiques(table: HTMLTableElement): void {
  for (const group of table.querySelectorAll<HTMLElement>(".given")) {
    const rate = (index: number) => {
      group.querySelectorAll<HTMLInputElement>("input")[index]!.checked = true;
      const row = group.closest("tr")!;
      const next = [...row.querySelectorAll<HTMLElement>(".given")].find((other) => !other.querySelector(":checked"));
      (next?.querySelector("input") ?? row).focus();
    };
    group.addEventListener("keydown", (event) => choosing(rate)(event as GroupPress));
  }
}
