import { selectedText, selectNothing } from "../reading/selecting";
import { light } from "../reading/highlights";
import { codePointsTo, placeOf } from "../state/spans";

/** The texts of the page's steps, before they are typeset. */
const sources = new Map(
  [...document.querySelectorAll<HTMLElement>("[data-text-of]")].map((text) => [Number(text.dataset.textOf), text.textContent ?? ""]),
);

const out = new Map<number, () => void>();

/** Highlights in a row's text what anybody marked, as quoted beside it. */
export function lightMarks(row: HTMLTableRowElement): void {
  const step = Number(row.querySelector<HTMLElement>("[data-text-of]")?.dataset.textOf);
  const source = sources.get(step) ?? "";
  const spans = [...row.querySelectorAll<HTMLElement>("[data-mark]")].map(({ dataset }) => dataset.mark!.split(":").map(Number));
  out.get(step)?.();
  out.set(step, light(step, spans.map(([start, end]) => placeOf(source, { start: start!, end: end! }))));
}

/** Marks the selected part of a step under decision and returns the field for the remark; null without a selection. */
export function markSelected(table: HTMLTableElement): HTMLElement | null {
  const selected = selectedText();
  const source = selected && sources.get(selected.step);
  const row = selected && table.querySelector(`[data-text-of="${selected.step}"]`)?.closest("tr");
  const list = row?.querySelector<HTMLElement>(".marks");
  if (!source || !row || !list) return null;
  const { from, to } = selected.place;
  const mark = document.querySelector<HTMLTemplateElement>("template#mark")!.content.cloneNode(true) as DocumentFragment;
  for (const field of mark.querySelectorAll<HTMLInputElement | HTMLSelectElement>("[name]")) field.name += String(selected.step);
  const place = `${codePointsTo(source, from)}:${codePointsTo(source, to)}`;
  mark.querySelector("q")!.textContent = source.slice(from, to);
  mark.querySelector("q")!.dataset.mark = place;
  mark.querySelector("input")!.value = place;
  list.append(mark);
  lightMarks(row);
  selectNothing();
  return list.lastElementChild!.querySelector("input:not([type=hidden])");
}

/** Removes a mark when its button is pressed. */
export function letMarksGo(table: HTMLTableElement): void {
  table.addEventListener("click", ({ target }) => {
    const mark = target instanceof Element && target.closest("[data-remove]")?.closest("li");
    if (!mark) return;
    const row = mark.closest("tr")!;
    row.focus({ preventScroll: true });
    mark.remove();
    lightMarks(row);
  });
}
