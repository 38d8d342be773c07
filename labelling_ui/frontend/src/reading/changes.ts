import type { Leaf } from "./source";

/** What a line of a change to a file is. */
export type Change = "added" | "removed" | "hunk" | "meta";

const META = /^(?:diff |index [0-9a-f]|--- |\+\+\+ |\*\*\* |(?:new|deleted) file mode|rename |similarity |Binary files )/;
const UNIFIED = /^(?:@@ .*@@|diff --git |\*\*\* (?:Update|Add|Delete) File: |--- \S.*\n\+\+\+ \S)/m;

/** Whether a text is a unified diff, or a patch as agents write it. */
export function isUnified(text: string): boolean {
  return UNIFIED.test(text);
}

/** The lines of a unified diff, each with what it does. The signs stay where they are: they are in the text. */
export function unifiedDiff<Line extends Leaf>(lines: readonly Line[]): (Line & { change?: Change })[] {
  return lines.map((line) => {
    const change = changeOf(line.text);
    return change ? { ...line, change } : line;
  });
}

function changeOf(line: string): Change | undefined {
  if (META.test(line)) return "meta";
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : undefined;
}
