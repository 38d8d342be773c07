import { choosing, type Press } from "../ui/choosing";

/** Keys within an explanation that came with a step: they rate it, and go on to the next that has no rating, else back to the step. */
export function rateCritiques(table: HTMLTableElement): void {
  for (const group of table.querySelectorAll<HTMLElement>(".given")) {
    const rate = (index: number) => {
      group.querySelectorAll<HTMLInputElement>("input")[index]!.checked = true;
      const row = group.closest("tr")!;
      const next = [...row.querySelectorAll<HTMLElement>(".given")].find((other) => !other.querySelector(":checked"));
      (next?.querySelector("input") ?? row).focus();
    };
    group.addEventListener("keydown", (event) => choosing(rate)(event as Press));
  }
}
