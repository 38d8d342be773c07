import type { OwnLabel, Submission } from "../api/types";
import { text } from "../text";
import { markInWords } from "./in_words";
import { toMark } from "./submission";

type Version = Pick<OwnLabel | Submission, "finish_reason" | "reason" | "comment" | "reference_disputed" | "path">;
type Said = NonNullable<Version["path"][number]["ratings"]>[number];

/** One difference between two versions of a label, in words. */
interface Difference {
  about: string;
  mine: string;
  theirs: string;
}

/** The differences between two versions of a label on one solution, in reading order. */
export function differences(mine: Version, theirs: Version): Difference[] {
  const [left, right] = [inWords(mine), inWords(theirs)];
  const { nothing } = text.versions;
  return [...new Set([...right.keys(), ...left.keys()])]
    .map((about) => ({ about, mine: left.get(about) ?? nothing, theirs: right.get(about) ?? nothing }))
    .filter((row) => row.mine !== row.theirs);
}

function inWords(version: Version): Map<string, string> {
  const words = new Map<string, string>();
  for (const place of version.path) {
    (place.ratings ?? []).forEach((said, index) => {
      const name = index === 0 ? text.step(place.position + 1) : `${text.otherCompletion(place.position + 1)} (${index})`;
      words.set(name, ofStep(said));
    });
    if (place.own_text) words.set(text.versions.ownStep(place.position + 1), place.own_text);
  }
  const { finish_reason: finish, reason, comment } = version;
  words.set(text.versions.ended, [text.versions.finish[finish], reason].filter(Boolean).join(": "));
  if (comment) words.set(text.versions.note, comment);
  if (version.reference_disputed) words.set(text.versions.reference, text.problem.disputed);
  return words;
}

function ofStep(said: Said): string {
  const mark = toMark(said);
  const words = markInWords(mark);
  return (mark.answer ? words : [text.solution.unrated, ...words]).join(", ");
}
