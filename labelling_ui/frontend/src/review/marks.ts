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
  const list = selected && marksOf(table, selected.step);
  if (!source || !list) return null;
  const { from, to } = selected.place;
  append(list, selected.step, `${codePointsTo(source, from)}:${codePointsTo(source, to)}`, source.slice(from, to));
  lightMarks(list.closest("tr")!);
  selectNothing();
  return list.lastElementChild!.querySelector("input:not([type=hidden])");
}

/** Replaces the marks of a step by marks of these ranges (`start:end`), whose other fields are empty. */
export function putMarks(table: HTMLTableElement, step: number, ranges: string[]): void {
  const list = marksOf(table, step);
  const source = sources.get(step) ?? "";
  list?.replaceChildren();
  for (const range of list ? ranges : []) {
    const [start, end] = range.split(":").map(Number);
    const { from, to } = placeOf(source, { start: start!, end: end! });
    append(list!, step, range, source.slice(from, to));
  }
}

function marksOf(table: HTMLTableElement, step: number): HTMLElement | null {
  const row = table.querySelector(`[data-text-of="${step}"]`)?.closest("tr");
  return row?.querySelector<HTMLElement>(".marks") ?? null;
}

function append(list: HTMLElement, step: number, range: string, text: string): void {
  const mark = document.querySelector<HTMLTemplateElement>("template#mark")!.content.cloneNode(true) as DocumentFragment;
  for (const field of mark.querySelectorAll<HTMLInputElement | HTMLSelectElement>("[name]")) field.name += String(step);
  mark.querySelector("q")!.textContent = text;
  mark.querySelector("q")!.dataset.mark = range;
  mark.querySelector("input")!.value = range;
  list.append(mark);
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
