import { atomAt, parseInline, type Inline } from "./inlines";
import type { Source } from "./source";

/** A Markdown table; its first row is the header. */
export interface Table {
  type: "table";
  align: ("start" | "center" | "end")[];
  rows: Inline[][][];
}

const MOST_COLUMNS = 30;
const DELIMITERS = /[^\S\n]*\|?(?:[^\S\n]*:?-+:?[^\S\n]*\|)*[^\S\n]*:?-+:?[^\S\n]*\|?[^\S\n]*(?:\n|$)/y;

/** The table whose header begins at `at`, and where it ends; null if there is none. */
export function tableAt(source: Source, at: number): { table: Table; to: number } | null {
  const { text } = source;
  const headEnd = text.indexOf("\n", at);
  if (headEnd < 0 || !text.slice(at, headEnd).includes("|")) return null;
  const delimiters = source.match(DELIMITERS, headEnd + 1);
  if (!delimiters || !delimiters[0].includes("|")) return null;
  const align = delimiters[0].trim().replace(/^\||\|$/g, "").split("|").map(alignment);
  if (align.length > MOST_COLUMNS) return null;
  const head = cellsOf(source, at, headEnd);
  if (head.length !== align.length) return null;
  const rows = [head];
  let to = headEnd + 1 + delimiters[0].length;
  while (to < text.length) {
    const end = text.indexOf("\n", to) < 0 ? text.length : text.indexOf("\n", to);
    if (!text.slice(to, end).includes("|")) break;
    rows.push(cellsOf(source, to, end));
    to = end + 1;
  }
  return { table: { type: "table", align, rows }, to: Math.min(to, text.length) };
}

function alignment(delimiter: string): Table["align"][number] {
  const bare = delimiter.trim();
  if (!bare.endsWith(":")) return "start";
  return bare.startsWith(":") ? "center" : "end";
}

/** The cells between the bars of a line; bars inside formulas and code do not separate cells. */
function cellsOf(source: Source, from: number, to: number): Inline[][] {
  const { text } = source;
  const bars: number[] = [];
  for (let at = from; at < to; at += 1) {
    const atom = atomAt(source, at);
    if (atom && atom.to <= to) at = atom.to - 1;
    else if (text[at] === "\\") at += 1;
    else if (text[at] === "|") bars.push(at);
  }
  const edges = [from - 1, ...bars, to];
  const cells = edges.slice(1).map((end, index) => trimmed(text, edges[index]! + 1, end));
  if (cells[0]![0] === cells[0]![1]) cells.shift();
  if (cells.length > 0 && cells.at(-1)![0] === cells.at(-1)![1]) cells.pop();
  return cells.map(([begin, end]) => parseInline(source, begin, end));
}

function trimmed(text: string, from: number, to: number): [number, number] {
  const cell = text.slice(from, to);
  const begin = to - cell.trimStart().length;
  return [begin, Math.max(begin, from + cell.trimEnd().length)];
}
