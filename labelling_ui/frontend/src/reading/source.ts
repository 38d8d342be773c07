/** A rendered text and its source: `from` is a UTF-16 offset. */
export interface Leaf {
  readonly text: string;
  readonly from: number;
  /**
   * Where the source is longer than the rendered text, for example at an escape: [offset in `text`, extra characters].
   */
  readonly skips?: readonly Skip[];
}

export type Skip = readonly [at: number, extra: number];

/** Offset in the source of the `offset`th character of a leaf. */
export function sourceOffset({ from, skips = [] }: Omit<Leaf, "text">, offset: number): number {
  return skips.reduce((sum, [at, extra]) => (at <= offset ? sum + extra : sum), from + offset);
}

/** The inverse: the rendered character for an offset in the source. */
export function drawnOffset({ from, skips = [] }: Omit<Leaf, "text">, offset: number): number {
  let drawn = offset - from;
  for (const [at, extra] of skips) {
    if (drawn <= at) break;
    drawn -= Math.min(extra, drawn - at);
  }
  return drawn;
}

/** A text read from left to right. Each end is searched for once, however often it is needed on the way. */
export class Source {
  private readonly ends = new Map<string, { asked: number; found: number }>();
  readonly text: string;

  constructor(text: string) {
    // Same length, so that offsets stay those of the original text.
    this.text = text.replace(/\r(?=\n)/g, " ").replace(/\r/g, "\n");
  }

  /** Index of the next `end` at or after `at`; infinite if there is none. */
  find(end: string, at: number): number {
    const known = this.ends.get(end);
    if (known && known.asked <= at && at <= known.found) return known.found;
    const index = this.text.indexOf(end, at);
    const found = index < 0 ? Infinity : index;
    this.ends.set(end, { asked: at, found });
    return found;
  }

  /** The exact match of a sticky pattern at `at`. */
  match(pattern: RegExp, at: number): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(this.text);
  }
}

/** The lines of a leaf, each with its position in the source. */
export function linesOf(leaf: Leaf): Leaf[] {
  let at = 0;
  return leaf.text.split("\n").map((text) => {
    const [begin, end] = [at, at + text.length];
    at = end + 1;
    // The position includes the characters skipped before a line.
    const skips = (leaf.skips ?? [])
      .filter(([place]) => place > begin && place <= end)
      .map(([place, extra]): Skip => [place - begin, extra]);
    return { text, from: sourceOffset(leaf, begin), ...(skips.length > 0 && { skips }) };
  });
}

/** The lines of a text drawn verbatim. A final line break begins no further line. */
export function linesIn(text: string): Leaf[] {
  return linesOf({ text: text.replace(/\n$/, "").replace(/\r(?=\n)/g, " "), from: 0 });
}
