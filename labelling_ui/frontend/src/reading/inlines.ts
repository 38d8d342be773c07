import { formulaAt, type Formula } from "./maths";
import type { Leaf, Source } from "./source";

/** A piece of a line of text, with its position in the source. */
export type Inline =
  | ({ type: "text" } & Leaf)
  | ({ type: "code" } & Leaf)
  | Formula
  | { type: "strong" | "emphasis" | "deleted"; inlines: Inline[] }
  | { type: "link"; inlines: Inline[]; address: Leaf }
  | { type: "image"; alt: Leaf; address: Leaf };

type Match = { inline: Inline; to: number };

// Stricter than Markdown: `2*3*4`, `2**3` and `f[1](2)` are text to be judged, and no character of them may be lost.
const CODE = /(?<!`)(`{1,3})(?![\s`])((?:(?!\1)[^\n])*[^`\s])\1(?!`)/y;
const LINK =
  /!?\[((?:[^[\]\n]|\[[^[\]\n]{0,500}\]){0,500})\]\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"\n]*")?\s*\)/y;
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:|\.{0,2}\/|#|[\w-]+\.[\w-])/i;
const EMPHASES = [
  { mark: "**", type: "strong", holds: /\S/ },
  { mark: "__", type: "strong", holds: /[^\W\d_]{2}/ },
  { mark: "~~", type: "deleted", holds: /\S/ },
  { mark: "*", type: "emphasis", holds: /[^\W\d_]{2}/u },
  { mark: "_", type: "emphasis", holds: /[^\W\d_]{2}/u },
] as const;
const LONGEST_EMPHASIS = 500;
const SPECIAL = new Set("\\$`*_~[!");

/** The pieces of `text[from, to)`. Never throws; unknown syntax stays text. */
export function parseInline(source: Source, from = 0, to = source.text.length): Inline[] {
  const { text } = source;
  const inlines: Inline[] = [];
  let plain = from;
  const flush = (end: number) => {
    if (plain < end) inlines.push({ type: "text", text: text.slice(plain, end), from: plain });
  };
  for (let at = nextSpecial(text, from, to); at < to; at = nextSpecial(text, at, to)) {
    const found = inlineAt(source, at, to);
    if (!found) {
      at += /^\\\\/.test(text.slice(at, at + 2)) ? 2 : 1;
      continue;
    }
    const alone = found.inline.type === "math" && found.inline.display;
    flush(alone ? lineUpEnd(text, plain, at) : at);
    inlines.push(found.inline);
    at = plain = alone ? Math.min(to, lineDownStart(text, found.to)) : found.to;
  }
  flush(to);
  return inlines;
}

function nextSpecial(text: string, at: number, to: number): number {
  while (at < to && !SPECIAL.has(text[at]!)) at += 1;
  return at;
}

/** A displayed formula needs no empty line before or after it. */
function lineUpEnd(text: string, from: number, at: number): number {
  return at - /[^\S\n]*\n?[^\S\n]*$/.exec(text.slice(Math.max(from, at - 200), at))![0].length;
}

function lineDownStart(text: string, at: number): number {
  return at + /^[^\S\n]*\n?[^\S\n]*/.exec(text.slice(at, at + 200))![0].length;
}

/** A piece that no line break or emphasis can split: a formula, code, a link. */
export function atomAt(source: Source, at: number): Match | null {
  switch (source.text[at]) {
    case "$":
    case "\\": {
      const math = formulaAt(source, at);
      return math && { inline: math, to: math.to };
    }
    case "`": {
      const code = source.match(CODE, at);
      return code && { inline: { type: "code", text: code[2]!, from: at + code[1]!.length }, to: at + code[0].length };
    }
    case "!":
    case "[":
      return linkAt(source, at);
    default:
      return null;
  }
}

function inlineAt(source: Source, at: number, limit: number): Match | null {
  const found = atomAt(source, at) ?? emphasisAt(source, at) ?? escapeAt(source, at);
  return found && found.to <= limit ? found : null;
}

function escapeAt(source: Source, at: number): Match | null {
  const escaped = /^\\([$%#&_*`])/.exec(source.text.slice(at, at + 2));
  return escaped && { inline: { type: "text", text: escaped[1]!, from: at, skips: [[1, 1]] }, to: at + 2 };
}

function emphasisAt(source: Source, at: number): Match | null {
  const { text } = source;
  if (/[\w)\]*~]/.test(text[at - 1] ?? "")) return null;
  for (const { mark, type, holds } of EMPHASES) {
    if (!text.startsWith(mark, at)) continue;
    const begin = at + mark.length;
    const end = endOfEmphasis(source, begin, mark);
    if (end === null || !holds.test(text.slice(begin, end))) return null;
    return { inline: { type, inlines: parseInline(source, begin, end) }, to: end + mark.length };
  }
  return null;
}

/** Where the mark closes on its own line, skipping formulas and code; null if it does not. */
function endOfEmphasis(source: Source, begin: number, mark: string): number | null {
  const { text } = source;
  if (/[\s*_~]/.test(text[begin] ?? " ")) return null;
  for (let at = begin; at < Math.min(text.length, begin + LONGEST_EMPHASIS); at += 1) {
    if (text[at] === "\n") return null;
    const atom = atomAt(source, at);
    if (atom) at = atom.to - 1;
    else if (text[at] === "\\") at += 1;
    else if (text.startsWith(mark, at) && /\S/.test(text[at - 1]!)) {
      const behind = text[at + mark.length] ?? "";
      if (behind !== mark[0]) return /\w/.test(behind) ? null : at;
      at += mark.length;
    }
  }
  return null;
}

/** A link or an image. Its address is shown and never followed, so it must look like one. */
function linkAt(source: Source, at: number): Match | null {
  const match = source.match(LINK, at);
  if (!match || !ADDRESS.test(match[2]!)) return null;
  const label = at + match[0].indexOf("[") + 1;
  const address = { text: match[2]!, from: source.text.indexOf(match[2]!, label + match[1]!.length) };
  const to = at + match[0].length;
  if (source.text[at] === "!") return { inline: { type: "image", alt: { text: match[1]!, from: label }, address }, to };
  return { inline: { type: "link", inlines: parseInline(source, label, label + match[1]!.length), address }, to };
}
