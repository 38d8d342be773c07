import { rangeOf, type Place } from "./places";
import { textElement } from "./StepBody";

const NAME = "marked";
const lit = new Map<number, Range[]>();

/** Lights up places of a step's text, and gives what puts them out. Nothing of the page changes by it; older browsers go without. */
export function light(step: number, places: readonly Place[]): () => void {
  const root = textElement(step);
  if (places.length === 0 || !root || !("highlights" in CSS)) return () => undefined;
  const draw = () => {
    lit.set(step, places.map((place) => rangeOf(root, place)).filter((range) => range !== null));
    show();
  };
  draw();
  // Formulas and folded parts come later.
  const watching = new MutationObserver(draw);
  watching.observe(root, { childList: true, subtree: true });
  return () => {
    watching.disconnect();
    lit.delete(step);
    show();
  };
}

function show(): void {
  CSS.highlights.set(NAME, new Highlight(...[...lit.values()].flat()));
}
