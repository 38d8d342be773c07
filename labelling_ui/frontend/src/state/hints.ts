import type { Hint, Step } from "../api/types";
import { rows } from "./derived";
import { markOf, type Row, type Seen, type State } from "./model";
import { RATING_OF } from "../vocabulary";

/**
 * Whether the score of a step is shown automatically. Scores of later steps never are: a person who knows where the
 * model sees the error looks for it there, and hints are there to measure that pull.
 */
const COMES: Record<Hint["reveal"], (state: State, row: Row) => boolean> = {
  reached: (state, { step }) => state.cursor === step.id,
  rated: (state, { step }) => markOf(state.work, step.id).answer !== null,
  on_request: (state, { position }) => state.asked.includes(position),
};

/** The positions whose score is due and was not sent yet, including those seen before a reload. */
export function missingScores(state: State): number[] {
  const { hint, scores, hints_seen } = state;
  if (!hint) return [];
  const due = rows(state).filter((row) => hasScore(state, row) && row.reached && COMES[hint.reveal](state, row));
  const wanted = new Set([...due, ...hints_seen].map(({ position }) => position));
  return [...wanted].filter((position) => hint.positions.includes(position) && scores[position] === undefined);
}

/** The state after the person requested the score of a step; unchanged if there is none. */
export function ask(state: State, step: number): State {
  const row = rowToAsk(state, step);
  return !row || state.asked.includes(row.position) ? state : { ...state, asked: [...state.asked, row.position] };
}

/** The state after a score was shown. It stays recorded: undo does not remove it. */
export function showScore(state: State, position: number, score: number): State {
  const step = state.steps.find((entry) => entry.position === position)?.alternatives[0];
  if (!step || !state.hint?.positions.includes(position)) return state;
  const { hints_seen: before } = state;
  const known = before.some((one) => one.position === position);
  const hints_seen = known ? before : [...before, { position, before: ratingOf(state, step) }];
  return { ...state, scores: { ...state.scores, [position]: score }, hints_seen };
}

/** The model's probability that the step at this position is right; null if it is not shown. */
export function scoreInSight(state: State, position: number): number | null {
  return state.scores[position] ?? null;
}

/** Whether the person can request a score at this step, again until it arrives. */
export function mayAskScore(state: State, step: number): boolean {
  return rowToAsk(state, step) !== null;
}

function rowToAsk(state: State, step: number): Row | null {
  if (state.hint?.reveal !== "on_request") return null;
  const row = rows(state).find((one) => one.step.id === step);
  const open = row && hasScore(state, row) && row.reached && state.scores[row.position] === undefined;
  return open ? row : null;
}

/** Scores belong to the solution's own steps, never to alternatives. */
function hasScore(state: State, { main, candidate, position }: Row): boolean {
  return main && !candidate && state.hint !== null && state.hint.positions.includes(position);
}

function ratingOf(state: State, step: Step): Seen["before"] {
  const { answer } = markOf(state.work, step.id);
  return answer === null || answer === "unsure" ? null : RATING_OF[answer];
}
