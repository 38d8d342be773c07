import { atomAt, parseInline, type Inline } from "./inlines";
import type { Formula } from "./maths";
import { type Leaf, Source } from "./source";
import { tableAt, type Table } from "./tables";

interface Item {
  /** The number as written, since it is not corrected. */
  marker: Leaf;
  depth: number;
  /** Its lines were wrapped to a width; the breaks have no meaning. */
  flows: boolean;
  inlines: Inline[];
}

/** A block of text. `depth` is its indentation below a list. */
export type Block =
  | { type: "paragraph"; depth: number; flows: boolean; inlines: Inline[] }
  | { type: "heading"; inlines: Inline[] }
  | { type: "list"; items: Item[] }
  | { type: "code"; language: Leaf | null; lines: Leaf[] }
  | { type: "rule" }
  | Table;

const FENCE = /([^\S\n]*)(`{3,}|~{3,})([^\n`]*)(?:\n|$)/y;
// Drawing code of competition problems; it cannot be drawn here, so it is shown as code.
const ASYMPTOTE = /[^\S\n]*\[asy\]/y;
const ASYMPTOTE_END = "[/asy]";
const HEADING = /[^\S\n]{0,3}(?:#{2,6}|#(?=[^\S\n]+[^a-z\s]))[^\S\n]+(?=\S)/y;
const ITEM = /([^\S\n]*)([-*•+]|\d{1,3}[.)])[^\S\n]+(?=\S)/y;
const RULE = /[^\S\n]*(?:-{3,}|\*{3,}|_{3,})[^\S\n]*(?:\n|$)/y;
const BLANK = /[^\S\n]*(?:\n|$)/y;
const SHORTEST_WRAPPED = 60;
const LONGEST_WRAPPED = 125;
const INDENT = /[^\S\n]*/y;
const INDENTED = /(?: {4}|\t)[^\n]*(?:\n|$)/y;

/** Splits a text written by a model or a person into blocks. Never throws; unknown syntax stays text. */
export function parse(text: string): Block[] {
  return new Reader(text).read();
}

/** The formulas of a text. */
export function formulasOf(blocks: Block[]): Formula[] {
  const within = (inlines: Inline[]): Formula[] =>
    inlines.flatMap((inline) => (inline.type === "math" ? [inline] : "inlines" in inline ? within(inline.inlines) : []));
  return blocks.flatMap((block) => {
    if (block.type === "list") return block.items.flatMap((item) => within(item.inlines));
    if (block.type === "table") return block.rows.flatMap((row) => row.flatMap(within));
    return "inlines" in block ? within(block.inlines) : [];
  });
}

class Reader {
  private readonly source: Source;
  private readonly blocks: Block[] = [];
  /** The indentation of the items of the list above, outermost first. */
  private indents: number[] = [];
  private at = 0;

  constructor(text: string) {
    this.source = new Source(text);
  }

  read(): Block[] {
    const { text } = this.source;
    while (this.at < text.length) {
      const blank = this.source.match(BLANK, this.at);
      if (blank) this.at += blank[0].length || 1;
      else this.takeFence() || this.takeAsymptote() || this.takeTable() || this.takeRule() || this.takeLines();
    }
    return this.blocks;
  }

  private takeFence(): boolean {
    const fence = this.source.match(FENCE, this.at);
    if (!fence) return false;
    const [opening, indent, mark, info] = fence as unknown as [string, string, string, string];
    const begin = this.at + opening.length;
    const closing = new RegExp(`^[^\\S\\n]*${mark[0]}{${mark.length},}[^\\S\\n]*(?:\\n|$)`, "gm");
    closing.lastIndex = begin;
    const end = closing.exec(this.source.text);
    const language = info.trim();
    const from = this.at + indent.length + mark.length + info.indexOf(language);
    this.blocks.push({
      type: "code",
      language: language ? { text: language, from } : null,
      lines: this.linesBetween(begin, end?.index ?? this.source.text.length, indent.length),
    });
    this.at = end ? end.index + end[0].length : this.source.text.length;
    return true;
  }

  private takeAsymptote(): boolean {
    const opening = this.source.match(ASYMPTOTE, this.at);
    const from = this.at + (opening?.[0].length ?? 0);
    const end = opening ? this.source.find(ASYMPTOTE_END, from) : Infinity;
    if (end === Infinity) return false;
    const language = { text: "asy", from: from - 4 };
    this.blocks.push({ type: "code", language, lines: this.linesBetween(from, end, 0) });
    this.at = end + ASYMPTOTE_END.length;
    return true;
  }

  private takeTable(): boolean {
    const found = tableAt(this.source, this.at);
    if (!found) return false;
    this.blocks.push(found.table);
    this.at = found.to;
    return true;
  }

  private takeRule(): boolean {
    const rule = this.source.match(RULE, this.at);
    if (!rule) return false;
    this.blocks.push({ type: "rule" });
    this.at += rule[0].length;
    return true;
  }

  /** A heading, a list item, indented code, or a paragraph. */
  private takeLines(): void {
    const heading = this.source.match(HEADING, this.at);
    if (heading) return this.takeHeading(heading[0].length);
    const item = this.source.match(ITEM, this.at);
    if (item) return this.takeItem(item);
    if (this.indents.length || !this.takeIndented()) this.takeParagraph();
  }

  private takeHeading(length: number): void {
    const end = this.lineEnd(this.at + length);
    this.blocks.push({ type: "heading", inlines: parseInline(this.source, this.at + length, end) });
    this.indents = [];
    this.at = end;
  }

  private takeItem(match: RegExpExecArray): void {
    const indent = match[1]!.length;
    const begin = this.at + match[0].length;
    const end = this.paragraphEnd(this.lineEnd(begin));
    this.indents = [...this.indents.filter((outer) => outer < indent), indent];
    const item = {
      marker: { text: match[2]!, from: this.at + indent },
      depth: this.indents.length - 1,
      flows: this.flows(begin, end),
      inlines: parseInline(this.source, begin, end),
    };
    const last = this.blocks.at(-1);
    if (last?.type === "list") last.items.push(item);
    else this.blocks.push({ type: "list", items: [item] });
    this.at = end;
  }

  private takeParagraph(): void {
    const end = this.paragraphEnd(this.lineEnd(this.at));
    const indent = this.source.match(INDENT, this.at)![0].length;
    if (!indent) this.indents = [];
    const depth = indent ? this.indents.filter((outer) => outer < indent).length : 0;
    const flows = this.flows(this.at, end);
    this.blocks.push({ type: "paragraph", depth, flows, inlines: parseInline(this.source, this.at + indent, end) });
    this.at = end;
  }

  /** Code whose lines are separate steps keeps its indentation; lines with formulas are not code. */
  private takeIndented(): boolean {
    const begin = this.at;
    let end = begin;
    for (let line; (line = this.source.match(INDENTED, end)); ) end += line[0].length;
    const text = this.source.text.slice(begin, end);
    if (!text.trim() || /\$|\\[([a-z]/.test(text)) return false;
    this.blocks.push({ type: "code", language: null, lines: this.linesBetween(begin, end, 0) });
    this.at = end;
    return true;
  }

  /** The end of the lines that continue a paragraph or item. */
  private paragraphEnd(end: number): number {
    while (end < this.source.text.length && !this.beginsAnew(end + 1)) end = this.lineEnd(end + 1);
    return end;
  }

  private flows(from: number, to: number): boolean {
    const lines = this.source.text.slice(from, to).split("\n").slice(0, -1);
    return lines.length > 0 && lines.every((line) => line.length >= SHORTEST_WRAPPED && line.length <= LONGEST_WRAPPED);
  }

  private beginsAnew(at: number): boolean {
    return (
      [BLANK, FENCE, ASYMPTOTE, HEADING, ITEM, RULE].some((pattern) => this.source.match(pattern, at)) ||
      tableAt(this.source, at) !== null
    );
  }

  /** The end of the line, or of a formula or code that continues over several lines. */
  private lineEnd(at: number): number {
    const { text } = this.source;
    for (; at < text.length && text[at] !== "\n"; at += 1) {
      const atom = atomAt(this.source, at);
      if (atom) at = atom.to - 1;
      else if (text[at] === "\\" && text[at + 1] === "\\") at += 1;
    }
    return Math.min(at, text.length);
  }

  private linesBetween(from: number, to: number, indent: number): Leaf[] {
    const leaves: Leaf[] = [];
    for (const line of this.source.text.slice(from, to).replace(/\n$/, "").split("\n")) {
      const cut = Math.min(indent, line.length - line.trimStart().length);
      leaves.push({ text: line.slice(cut), from: from + cut });
      from += line.length + 1;
    }
    return leaves;
  }
}
