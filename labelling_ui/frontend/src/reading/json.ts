import { parseJson } from "../json";
import type { Leaf, Skip } from "./source";

/** A member of an object in a text: `value` is its JSON. */
export interface Member {
  name: Leaf;
  value: Leaf;
}

const TOKEN = /\s+|"(?:\\[^]|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/y;
const SHORT = 72;

type Token = Leaf;

/** The tokens of the JSON value at `at`, without white space; null if there is none or it has no end. */
function tokensAt(text: string, at: number): Token[] | null {
  const tokens: Token[] = [];
  let depth = 0;
  TOKEN.lastIndex = at;
  do {
    const from = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) return null;
    if (!token.trim()) continue;
    tokens.push({ text: token, from });
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
  } while (depth > 0 || tokens.length === 0);
  const to = endOf(tokens.at(-1)!);
  return parseJson(text.slice(at, to)) === null ? null : tokens;
}

function endOf(token: Token): number {
  return token.from + token.text.length;
}

/** The members of the object at `at`, and where it ends; null if there is none. */
export function objectAt(text: string, at: number): { members: Member[]; to: number } | null {
  const tokens = text[at] === "{" ? tokensAt(text, at) : null;
  if (!tokens) return null;
  const members: Member[] = [];
  let index = 1;
  while (tokens[index]!.text !== "}") {
    const name = tokens[index]!;
    const begin = index + 2;
    let end = begin;
    for (let depth = 0; depth > 0 || end === begin; end += 1) {
      if (/^[{[]$/.test(tokens[end]!.text)) depth += 1;
      if (/^[}\]]$/.test(tokens[end]!.text)) depth -= 1;
    }
    const from = tokens[begin]!.from;
    members.push({ name: unquoted(name), value: { text: text.slice(from, endOf(tokens[end - 1]!)), from } });
    index = tokens[end]!.text === "," ? end + 1 : end;
  }
  return { members, to: endOf(tokens.at(-1)!) };
}

/** The text that a JSON string encodes. */
export function unquoted({ text, from }: Leaf): Leaf {
  return unescaped(text.slice(1, -1), from + 1, /\\(?:u([0-9a-fA-F]{4})|([^]))/g);
}

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "", b: "", f: "" };

// Inside displayed quotes, the quotes of a string stay escaped.
const BUT_QUOTES = /\\(?:u([0-9a-fA-F]{4})|([^"\\]))|\\\\/g;

function unescaped(written: string, from: number, escapes: RegExp): Leaf {
  const skips: Skip[] = [];
  let text = "";
  let at = 0;
  for (const escape of written.matchAll(escapes)) {
    const [whole, code, sign] = escape;
    if (!code && !sign) continue;
    const said = code ? String.fromCharCode(parseInt(code, 16)) : (ESCAPES[sign!] ?? sign!);
    text += written.slice(at, escape.index) + said;
    skips.push([text.length, whole.length - said.length]);
    at = escape.index + whole.length;
  }
  return { text: text + written.slice(at), from, skips };
}

/**
 * A JSON array or object, indented for reading: short ones on one line, escapes in strings decoded. Every line is still
 * a piece of the text. Null if the text is not one.
 */
export function jsonLines({ text, from }: Leaf): (Leaf & { depth: number })[] | null {
  const begin = text.length - text.trimStart().length;
  const tokens = /[{[]/.test(text[begin] ?? "") ? tokensAt(text, begin) : null;
  if (!tokens || endOf(tokens.at(-1)!) !== text.trimEnd().length) return null;
  const lines: (Leaf & { depth: number })[] = [];
  const ends = endsOf(tokens);
  let depth = 0;
  let first = 0;
  const endLine = (last: number) => {
    if (last < first) return;
    const [start, stop] = [tokens[first]!.from, endOf(tokens[last]!)];
    lines.push({ ...unescaped(text.slice(start, stop), from + start, BUT_QUOTES), depth });
    first = last + 1;
  };
  for (let index = 0; index < tokens.length; index += 1) {
    const sign = tokens[index]!.text;
    if (sign === "{" || sign === "[") {
      const end = ends.get(index)!;
      if (endOf(tokens[end]!) - tokens[index]!.from <= SHORT) {
        index = end;
        continue;
      }
      endLine(index);
      depth += 1;
    } else if (sign === "}" || sign === "]") {
      endLine(index - 1);
      depth -= 1;
    } else if (sign === ",") endLine(index);
  }
  endLine(tokens.length - 1);
  return lines;
}

/** For each opening token, the token that closes it. */
function endsOf(tokens: Token[]): Map<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  tokens.forEach(({ text }, index) => {
    if (text === "{" || text === "[") open.push(index);
    if (text === "}" || text === "]") ends.set(open.pop()!, index);
  });
  return ends;
}
