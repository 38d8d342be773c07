import { type Place, rangeOf, rangesOf } from "./places";
import type { Hit } from "./search";
import { textElement } from "./StepBody";

/** Highlights search hits, the current one differently, without changing the page. Older browsers show none. */
export function markHits(hits: readonly Hit[], current: Hit | null): void {
  if (!("highlights" in CSS)) return;
  mark("found", hits.filter((hit) => hit !== current));
  mark("found-here", current ? [current] : []);
}

function mark(name: string, hits: readonly Hit[]): void {
  const ranges = [...byStep(hits)].flatMap(([step, places]) => {
    const element = textElement(step);
    return element ? rangesOf(element, places) : [];
  });
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}

function byStep(hits: readonly Hit[]): Map<number, Hit[]> {
  const steps = new Map<number, Hit[]>();
  for (const hit of hits) steps.set(hit.step, [...(steps.get(hit.step) ?? []), hit]);
  return steps;
}

/** The range of a hit on the page; null if it is folded. */
export function rangeShowing(hit: Hit): Range | null {
  const element = textElement(hit.step);
  return element && rangeOf(element, hit);
}

const lit = new Map<number, Range[]>();

/**
 * Highlights places in a step's text and returns a function that removes the highlights. The page itself does not
 * change; older browsers show none.
 */
export function light(step: number, places: readonly Place[]): () => void {
  const root = textElement(step);
  if (places.length === 0 || !root || !("highlights" in CSS)) return () => undefined;
  const show = () => CSS.highlights.set("marked", new Highlight(...[...lit.values()].flat()));
  const draw = () => {
    lit.set(step, rangesOf(root, places));
    show();
  };
  draw();
  // Formulas and folded parts appear later.
  const watching = new MutationObserver(draw);
  watching.observe(root, { childList: true, subtree: true });
  return () => {
    watching.disconnect();
    lit.delete(step);
    show();
  };
}
