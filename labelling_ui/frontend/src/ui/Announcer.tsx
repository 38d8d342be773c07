import { useEffect, useRef, useState } from "preact/hooks";
import type { View } from "../session/view";
import { rows } from "../state/derived";
import { scoreInSight } from "../state/hints";
import { dimensionsInWords } from "../state/in_words";
import { type Answer, type Mark, markOf, type Row, type State } from "../state/model";
import { text } from "../text";
import { whatNext } from "./ActionBar";
import { hintText } from "./Rating";
import { useScheme } from "./scheme";

/** If more steps than this change at once, they are counted, and only the last is named. */
const MOST_NAMED = 3;

export type AnnouncedView = Pick<View, "task" | "state" | "idle" | "saved" | "sitting" | "practice">;

/** What a screen reader announces when the page changes; "" for nothing. */
export function announcement(before: AnnouncedView, after: AnnouncedView, nameOf: (answer: Answer) => string): string {
  const explanation = after.practice?.explanation;
  if (explanation && explanation !== before.practice?.explanation) return text.practice.outcomes[explanation.outcome];
  const came = after.task?.lease.id !== before.task?.lease.id;
  if (came || (!after.task && after.idle.kind !== before.idle.kind)) {
    const handedIn = after.sitting.done > before.sitting.done ? [text.spoken.handedIn] : [];
    return [...handedIn, ...(after.task ? [text.spoken.next(after.task.solution.steps.length)] : idleSentences(after))].join(" ");
  }
  if (isTrouble(before) && after.saved === "saved") return text.spoken.savedAgain;
  if (!before.state || !after.state) return "";
  const changed = before.state.work === after.state.work ? "" : changeOfWork(before.state, after.state, nameOf);
  return [changed, scoreText(before.state, after.state)].filter(Boolean).join(" ");
}

function idleSentences({ idle }: AnnouncedView): string[] {
  const [title, otherwise] = text.idle[idle.kind];
  return [`${title}.`, idle.message || otherwise || ""];
}

/** The model's score of the current step, if it has just arrived. */
function scoreText(before: State, after: State): string {
  const position = rows(after).find(({ step }) => step.id === after.cursor)?.position ?? -1;
  return scoreInSight(before, position) === null ? hintText(scoreInSight(after, position)) : "";
}

function isTrouble({ saved }: AnnouncedView): boolean {
  return saved === "unreachable" || saved === "signed_out";
}

/** The changed steps, and the state of the work. */
function changeOfWork(before: State, after: State, nameOf: (answer: Answer) => string): string {
  const phrases = ({ step }: Row, state: State) => markPhrases(markOf(state.work, step.id), nameOf).join(", ");
  const changed = rows(after).filter(
    (row) => markOf(before.work, row.step.id) !== markOf(after.work, row.step.id) && phrases(row, before) !== phrases(row, after),
  );
  const next = whatNext(after);
  if (changed.length === 0) return next === whatNext(before) ? "" : `${next}.`;
  const singly = changed.length > MOST_NAMED ? changed.slice(-1) : changed;
  const sentences = singly.map((row) => text.solution.mapStep(row.position + 1, phrases(row, after)));
  const others = changed.length - singly.length;
  return [...sentences, ...(others > 0 ? [text.spoken.others(others)] : []), next].map((one) => `${one}.`).join(" ");
}

/** The content of a step, a phrase each; text being typed is announced by the browser. */
function markPhrases(mark: Mark, nameOf: (answer: Answer) => string): string[] {
  return [
    mark.answer ? nameOf(mark.answer) : text.solution.unrated,
    ...(mark.flagged ? [text.solution.flagged] : []),
    ...(mark.error_type ? [mark.error_type] : []),
    ...dimensionsInWords({ ...mark.dimensions, critique: "" }),
    ...(mark.spans.length > 0 ? [text.spoken.marks(mark.spans.length)] : []),
  ];
}

/** A sentence to announce; a new object announces it again. */
export interface Saying {
  readonly words: string;
}

/**
 * Announces what happened to a screen reader. Each sentence is its own node, so that a repeated one is announced twice.
 */
export function Announcer({ view, said }: { view: AnnouncedView; said: Saying }) {
  const { nameOf } = useScheme();
  const [now, setNow] = useState({ words: "", turn: 0 });
  const say = (words: string) => words && setNow(({ turn }) => ({ words, turn: turn + 1 }));
  const before = useRef(view);
  useEffect(() => {
    const earlier = before.current;
    before.current = view;
    say(announcement(earlier, view, nameOf));
  }, [view]);
  useEffect(() => void say(said.words), [said]);
  return (
    <div class="visually-hidden" role="status">
      <p key={now.turn}>{now.words}</p>
    </div>
  );
}
