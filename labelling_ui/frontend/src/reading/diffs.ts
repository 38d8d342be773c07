import { diffArrays } from "diff";
import { type Member, unquoted } from "./json";
import { type Leaf, linesOf } from "./source";

/** A line of code. */
export interface Line extends Leaf {
  /** What it is in a change to a file. */
  change?: "added" | "removed" | "hunk" | "meta";
  /** Drawn before a changed line whose text does not begin with one. */
  sign?: "+" | "-" | " ";
  /** Its indentation, where the layout is ours and not the text's. */
  depth?: number;
}

const META = /^(?:diff |index [0-9a-f]|--- |\+\+\+ |\*\*\* |(?:new|deleted) file mode|rename |similarity |Binary files )/;
const UNIFIED = /^(?:@@ .*@@|diff --git |\*\*\* (?:Update|Add|Delete) File: |--- \S.*\n\+\+\+ \S)/m;

/** Whether a text is a unified diff, or a patch as agents write it. */
export function isUnified(text: string): boolean {
  return UNIFIED.test(text);
}

/** The lines of a unified diff, each with what it is in the change. The signs stay: they are in the text. */
export function unifiedDiff(lines: readonly Line[]): Line[] {
  return lines.map((line) => {
    const change = changeOf(line.text);
    return change ? { ...line, change } : line;
  });
}

function changeOf(line: string): Line["change"] {
  if (META.test(line)) return "meta";
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : undefined;
}

// Past so many changed lines two texts have nothing in common that helps to read them.
const MOST_CHANGES = 2_000;

/** What an edit takes out and puts in, line by line; each line keeps its place in the argument that it comes from. */
export function editLines(before: Member, after: Member): Line[] {
  const added = (line: Leaf): Line => ({ ...line, change: "added", sign: "+" });
  const removed = (line: Leaf): Line => ({ ...line, change: "removed", sign: "-" });
  const [old, now] = [linesOf(unquoted(before.value)), linesOf(unquoted(after.value))];
  const changes = diffArrays(old, now, { comparator: (a: Leaf, b: Leaf) => a.text === b.text, maxEditLength: MOST_CHANGES });
  if (!changes) return [...old.map(removed), ...now.map(added)];
  return changes.flatMap((change): Line[] => {
    if (change.added) return change.value.map(added);
    return change.removed ? change.value.map(removed) : change.value.map((line) => ({ ...line, sign: " " }));
  });
}
