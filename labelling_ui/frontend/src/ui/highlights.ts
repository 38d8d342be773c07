import { useLayoutEffect } from "preact/hooks";
import { rangeOf } from "../reading/places";
import { textElement } from "../reading/StepBody";
import { indexOfCodePoint, type Span } from "../state/spans";

const NAME = "marked";
const lit = new Map<number, Range[]>();

/** Lights up what is marked in a step's text. Nothing of the page changes by it; older browsers show the list alone. */
export function useHighlights(step: number, text: string, spans: readonly Span[]): void {
  useLayoutEffect(() => {
    const root = textElement(step);
    if (spans.length === 0 || !root || !("highlights" in CSS)) return;
    const light = () => {
      const ranges = spans.map(({ start, end }) =>
        rangeOf(root, { from: indexOfCodePoint(text, start), to: indexOfCodePoint(text, end) }),
      );
      lit.set(step, ranges.filter((range) => range !== null));
      show();
    };
    light();
    // Formulas and folded parts come later.
    const watching = new MutationObserver(light);
    watching.observe(root, { childList: true, subtree: true });
    return () => {
      watching.disconnect();
      lit.delete(step);
      show();
    };
  }, [step, text, spans]);
}

function show(): void {
  CSS.highlights.set(NAME, new Highlight(...[...lit.values()].flat()));
}
