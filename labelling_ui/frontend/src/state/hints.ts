import type { Hint, Step } from "../api/types";
import { rows } from "./derived";
import { markOf, type Row, type Seen, type State } from "./model";
import { RATING_OF } from "../vocabulary";

/**
 * Whether the score of a step comes into sight by itself. That of a later step never does: who knows where the model
 * sees the error reads on to find it there, and that pull is what hints are measured for.
 */
const COMES: Record<Hint["reveal"], (state: State, row: Row) => boolean> = {
  reached: (state, { step }) => state.cursor === step.id,
  rated: (state, { step }) => markOf(state.work, step.id).answer !== null,
  on_request: (state, { position }) => state.asked.includes(position),
};

/** The positions whose score is due and was not sent yet, also those that were seen before the page was reloaded. */
export function missingScores(state: State): number[] {
  const { hint, scores, hints_seen } = state;
  if (!hint) return [];
  const due = rows(state).filter((row) => hasScore(state, row) && row.reached && COMES[hint.reveal](state, row));
  const wanted = new Set([...due, ...hints_seen].map(({ position }) => position));
  return [...wanted].filter((position) => hint.positions.includes(position) && scores[position] === undefined);
}

/** The state once the person has asked for the score of a step; the same where there is nothing to ask for. */
export function ask(state: State, step: number): State {
  const row = rowToAsk(state, step);
  return !row || state.asked.includes(row.position) ? state : { ...state, asked: [...state.asked, row.position] };
}

/** The state once the score of a position stands before the person. What was seen stays seen: no undo takes it back. */
export function showScore(state: State, position: number, score: number): State {
  const step = state.steps.find((entry) => entry.position === position)?.alternatives[0];
  if (!step || !state.hint?.positions.includes(position)) return state;
  const { hints_seen: before } = state;
  const known = before.some((one) => one.position === position);
  const hints_seen = known ? before : [...before, { position, before: ratingOf(state, step) }];
  return { ...state, scores: { ...state.scores, [position]: score }, hints_seen };
}

/** How likely the model takes the step of the solution at this position to be right; null where it is not in sight. */
export function scoreInSight(state: State, position: number): number | null {
  return state.scores[position] ?? null;
}

/** Whether the person gets a score by asking at this step. It may be asked for again until it is there. */
export function mayAskScore(state: State, step: number): boolean {
  return rowToAsk(state, step) !== null;
}

function rowToAsk(state: State, step: number): Row | null {
  if (state.hint?.reveal !== "on_request") return null;
  const row = rows(state).find((one) => one.step.id === step);
  const open = row && hasScore(state, row) && row.reached && state.scores[row.position] === undefined;
  return open ? row : null;
}

/** Scores are of the steps of the solution itself, never of other completions. */
function hasScore(state: State, { main, candidate, position }: Row): boolean {
  return main && !candidate && state.hint !== null && state.hint.positions.includes(position);
}

function ratingOf(state: State, step: Step): Seen["before"] {
  const { answer } = markOf(state.work, step.id);
  return answer === null || answer === "unsure" ? null : RATING_OF[answer];
}
