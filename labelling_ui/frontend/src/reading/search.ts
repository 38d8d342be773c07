import { imagesIn } from "./images";
import type { Place } from "./places";

/** A search hit in the text of a step. */
export interface Hit extends Place {
  step: number;
}

const MOST_HITS = 2_000;

/** All hits in reading order, without regard to case or the amount of white space. */
export function find(steps: readonly { id: number; text: string }[], sought: string): Hit[] {
  const words = sought.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("\\s+"), "giu");
  const hits: Hit[] = [];
  for (const { id, text } of steps) {
    const images = imagesIn(text);
    for (const match of text.matchAll(pattern)) {
      if (images.some(({ from, to }) => from < match.index && match.index < to)) continue;
      hits.push({ step: id, from: match.index, to: match.index + match[0].length });
      if (hits.length >= MOST_HITS) return hits;
    }
  }
  return hits;
}

/** The first hit in this step or a later one, else the first of all. */
export function firstFrom(hits: readonly Hit[], order: readonly number[], step: number): number {
  const place = new Map(order.map((id, index) => [id, index]));
  const here = place.get(step) ?? 0;
  const found = hits.findIndex((hit) => place.get(hit.step)! >= here);
  return Math.max(0, found);
}
