/** A drawn text and where it stands in its source: `from` is a UTF-16 offset. */
export interface Leaf {
  readonly text: string;
  readonly from: number;
  /** Where the source says more than is drawn, as an escape does: [offset in `text`, how many characters more]. */
  readonly skips?: readonly Skip[];
}

export type Skip = readonly [at: number, extra: number];

/** Offset in the source of the `offset`th character of a leaf. */
export function sourceOffset({ from, skips = [] }: Omit<Leaf, "text">, offset: number): number {
  return skips.reduce((sum, [at, extra]) => (at <= offset ? sum + extra : sum), from + offset);
}

/** The other way: which drawn character of a leaf stands for an offset in the source. */
export function drawnOffset({ from, skips = [] }: Omit<Leaf, "text">, offset: number): number {
  let drawn = offset - from;
  for (const [at, extra] of skips) {
    if (drawn <= at) break;
    drawn -= Math.min(extra, drawn - at);
  }
  return drawn;
}

/** A text that is read from left to right. An end is looked for once, however often it is asked for on the way there. */
export class Source {
  private readonly ends = new Map<string, { asked: number; found: number }>();
  readonly text: string;

  constructor(text: string) {
    // Same length, so that offsets stay those of the text as given.
    this.text = text.replace(/\r(?=\n)/g, " ").replace(/\r/g, "\n");
  }

  /** Index of the next `end` at or after `at`; infinite where there is none. */
  find(end: string, at: number): number {
    const known = this.ends.get(end);
    if (known && known.asked <= at && at <= known.found) return known.found;
    const index = this.text.indexOf(end, at);
    const found = index < 0 ? Infinity : index;
    this.ends.set(end, { asked: at, found });
    return found;
  }

  /** What a sticky pattern matches exactly at `at`. */
  match(pattern: RegExp, at: number): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(this.text);
  }
}

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
