import type { Leaf, Skip } from "./source";
import { sourceOffset } from "./source";

/** The lines of a leaf, each with its own place in the source. */
export function linesOf(leaf: Leaf): Leaf[] {
  let at = 0;
  return leaf.text.split("\n").map((text) => {
    const [begin, end] = [at, at + text.length];
    at = end + 1;
    // The characters skipped before a line are in its place already.
    const skips = (leaf.skips ?? [])
      .filter(([place]) => place > begin && place <= end)
      .map(([place, extra]): Skip => [place - begin, extra]);
    return { text, from: sourceOffset(leaf, begin), ...(skips.length > 0 && { skips }) };
  });
}

/** The lines of a text that is drawn as it is. An end of line at its end begins no further one. */
export function linesIn(text: string): Leaf[] {
  return linesOf({ text: text.replace(/\n$/, "").replace(/\r(?=\n)/g, " "), from: 0 });
}
