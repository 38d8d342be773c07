import { objectAt, unquoted, type Member } from "./json";
import type { Leaf } from "./source";

/** A tool call in a step: `name({"argument": …})`. `argument` is the text in the brackets if it is not an object. */
export interface Call {
  name: Leaf;
  members: Member[];
  argument: Leaf | null;
}

/** The parts of an agent's step, in order: prose and tool calls. */
type Part = { type: "prose"; text: Leaf } | ({ type: "call" } & Call);

const BEGIN = /^([A-Za-z_][\w.:-]*)\(/gm;

/** Splits a step into prose and tool calls. A step without a call is one part of prose. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let plain = 0;
  const flush = (end: number) => {
    const prose = text.slice(plain, end);
    if (prose.trim()) parts.push({ type: "prose", text: { text: prose, from: plain } });
  };
  BEGIN.lastIndex = 0;
  for (let begin; (begin = BEGIN.exec(text)); ) {
    const call = callAt(text, begin);
    if (!call) continue;
    flush(begin.index);
    parts.push({ type: "call", ...call.call });
    plain = BEGIN.lastIndex = call.to;
  }
  flush(text.length);
  return parts;
}

/** Whether a step without a call begins with a tag or a heading ("<think>", "Action: "), as no shell command does. */
export function isMessage(text: string): boolean {
  return /^\s*(<\w+>|\w+: )/.test(text);
}

function callAt(text: string, begin: RegExpExecArray): { call: Call; to: number } | null {
  const name = { text: begin[1]!, from: begin.index };
  const open = begin.index + begin[0].length;
  const object = objectAt(text, open);
  if (object && text[object.to] === ")") return { call: { name, members: object.members, argument: null }, to: object.to + 1 };
  const lineEnd = text.indexOf("\n", open) < 0 ? text.length : text.indexOf("\n", open);
  const close = text.lastIndexOf(")", lineEnd);
  if (close < open || text.slice(close + 1, lineEnd).trim()) return null;
  return { call: { name, members: [], argument: { text: text.slice(open, close), from: open } }, to: close + 1 };
}

const OLD = ["old_string", "old_str", "old_text", "search"];
const NEW = ["new_string", "new_str", "new_text", "replace"];

/** The removed and inserted texts of an edit; null if the call is not an edit. */
export function editOf({ members }: Call): { before: Member; after: Member } | null {
  const named = (names: string[]) => members.find((member) => names.includes(member.name.text) && isText(member));
  const [before, after] = [named(OLD), named(NEW)];
  return before && after ? { before, after } : null;
}

export function isText({ value }: Member): boolean {
  return value.text.startsWith('"');
}

const PATHS = ["file_path", "path", "filename", "file", "notebook_path"];
const BY_NAME: Record<string, string> = { command: "bash", cmd: "bash", bash: "bash", code: "python", sql: "sql" };
const STATEMENT = /^\s*(select\b.*\bfrom|with\b.*\bas\s*\(\s*select|insert\s+into|update\b.*\bset|delete\s+from)\b/is;
const CONTENTS = ["content", "contents", "file_text", "insert_line_text", "text", "new_source", ...OLD, ...NEW];

/** The language of an argument, from its name or from the file that the call names; empty if neither is known. */
export function languageOf(call: Call, member: Member): string {
  // Most queries are prose, where an apostrophe would start a string.
  if (member.name.text === "query") return STATEMENT.test(unquoted(member.value).text) ? "sql" : "";
  if (!CONTENTS.includes(member.name.text)) return BY_NAME[member.name.text] ?? "";
  const path = call.members.find((other) => PATHS.includes(other.name.text) && isText(other));
  return (path && /\.(\w+)$/.exec(unquoted(path.value).text)?.[1]) ?? "";
}
