/** Maps between rendered text and its source. Offsets are UTF-16; `to` is exclusive. */

import { drawnOffset, type Skip, sourceOffset } from "./source";

export interface Place {
  from: number;
  to: number;
}

/** The part of the source that a range of the page covers under `root`, touched formulas whole; null for none. */
export function offsetsOf(root: Element, range: Range): Place | null {
  const touched = leavesOf(root)
    .filter((leaf) => range.intersectsNode(leaf))
    .map((leaf) => coveredBy(range, leaf))
    .filter((place) => place.from < place.to);
  if (touched.length === 0) return null;
  return { from: Math.min(...touched.map((one) => one.from)), to: Math.max(...touched.map((one) => one.to)) };
}

/** The ranges of the page that show places of the source; folded parts have none. */
export function rangesOf(root: Element, places: readonly Place[]): Range[] {
  const leaves = leavesOf(root).map((leaf) => ({ leaf, ...placeOf(leaf) }));
  return places.flatMap(({ from, to }) => {
    const shown = leaves.filter((leaf) => leaf.from < to && leaf.to > from);
    const [first, last] = [shown[0]?.leaf, shown.at(-1)?.leaf];
    if (!first || !last) return [];
    const range = document.createRange();
    if (isWhole(first)) range.setStartBefore(first);
    else range.setStart(...pointIn(first, drawnOffset(measureOf(first), from)));
    if (isWhole(last)) range.setEndAfter(last);
    else range.setEnd(...pointIn(last, drawnOffset(measureOf(last), to)));
    return [range];
  });
}

/** The range of the page that shows one place; null if it is folded. */
export function rangeOf(root: Element, place: Place): Range | null {
  return rangesOf(root, [place])[0] ?? null;
}

function leavesOf(root: Element): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>("[data-from]")];
}

/** Formulas and images count whole, since they differ from their source. */
function isWhole(leaf: HTMLElement): boolean {
  return leaf.dataset.to !== undefined;
}

function measureOf({ dataset }: HTMLElement): { from: number; skips: Skip[] } {
  const skips = (dataset.skips?.split(" ") ?? []).map((skip) => skip.split(":").map(Number) as unknown as Skip);
  return { from: Number(dataset.from), skips };
}

function placeOf(leaf: HTMLElement): Place {
  const from = Number(leaf.dataset.from);
  if (isWhole(leaf)) return { from, to: Number(leaf.dataset.to) };
  return { from, to: sourceOffset(measureOf(leaf), leaf.textContent!.length) };
}

function coveredBy(range: Range, leaf: HTMLElement): Place {
  if (isWhole(leaf)) return placeOf(leaf);
  const before = leaf.contains(range.startContainer) ? lengthBefore(leaf, range.startContainer, range.startOffset) : 0;
  const end = leaf.contains(range.endContainer)
    ? lengthBefore(leaf, range.endContainer, range.endOffset)
    : leaf.textContent!.length;
  const measure = measureOf(leaf);
  return { from: sourceOffset(measure, before), to: before < end ? sourceOffset(measure, end) : 0 };
}

function lengthBefore(leaf: HTMLElement, node: Node, offset: number): number {
  const range = document.createRange();
  range.setStart(leaf, 0);
  range.setEnd(node, offset);
  return range.toString().length;
}

function pointIn(leaf: HTMLElement, offset: number): [Node, number] {
  const walker = document.createTreeWalker(leaf, NodeFilter.SHOW_TEXT);
  let left = Math.max(0, offset);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const { length } = node.textContent!;
    if (left <= length) return [node, left];
    left -= length;
  }
  return [leaf, leaf.childNodes.length];
}
