import { diffArrays } from "diff";
import type { Line } from "./Code";
import { unquoted, type Member } from "./json";
import { linesOf } from "./lines";
import type { Leaf } from "./source";

// Past so many changed lines two texts have nothing in common that helps to read them.
const MOST_CHANGES = 2_000;

/** What an edit takes out and puts in, line by line; each line keeps its place in the argument that it comes from. */
export function editLines(before: Member, after: Member): Line[] {
  const old = linesOf(unquoted(before.value));
  const now = linesOf(unquoted(after.value));
  const changes = diffArrays(old, now, { comparator: (a: Leaf, b: Leaf) => a.text === b.text, maxEditLength: MOST_CHANGES });
  if (!changes) return [...old.map(removed), ...now.map(added)];
  return changes.flatMap((change): Line[] => {
    if (change.added) return change.value.map(added);
    return change.removed ? change.value.map(removed) : change.value.map((line) => ({ ...line, sign: " " }));
  });
}

function added(line: Leaf): Line {
  return { ...line, change: "added", sign: "+" };
}

function removed(line: Leaf): Line {
  return { ...line, change: "removed", sign: "-" };
}
