import { diffArrays } from "diff";
import { type Member, unquoted } from "./json";
import { type Leaf, linesOf } from "./source";

/** A line of code. */
export interface Line extends Leaf {
  /** The role of a line in a change to a file. */
  change?: "added" | "removed" | "hunk" | "meta";
  /** The sign drawn before a changed line whose text does not begin with one. */
  sign?: "+" | "-" | " ";
  /** Its indentation, if the layout is ours and not the text's. */
  depth?: number;
}

const META = /^(?:diff |index [0-9a-f]|--- |\+\+\+ |\*\*\* |(?:new|deleted) file mode|rename |similarity |Binary files )/;
const UNIFIED = /^(?:@@ .*@@|diff --git |\*\*\* (?:Update|Add|Delete) File: |--- \S.*\n\+\+\+ \S)/m;

/** Whether a text is a unified diff, or a patch as agents write it. */
export function isUnified(text: string): boolean {
  return UNIFIED.test(text);
}

/** The lines of a unified diff with their roles. The signs are part of the text. */
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

// Beyond this many changed lines, a comparison does not help to read two texts.
const MOST_CHANGES = 2_000;

/** The removed and inserted lines of an edit; each line keeps its position in its argument. */
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
