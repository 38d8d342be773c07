import type { Hint, Step } from "../api/types";
import { rows } from "./derived";
import { markOf, type Seen, type State } from "./model";

/**
 * Whether the score of a step comes into sight by itself. That of a later step never does: who knows where the model
 * sees the error reads on to find it there, and that pull is what hints are measured for.
 */
const COMES: Record<Hint["reveal"], (state: State, step: Step) => boolean> = {
  reached: (state, step) => state.cursor === step.id,
  rated: (state, step) => markOf(state.work, step.id).answer !== null,
  on_request: () => false,
};

/** The state with what has come into sight. What was seen stays seen: no undo takes it back. */
export function notice(state: State): State {
  const { hint } = state;
  if (!hint) return state;
  const come = rows(state).filter(({ step }) => COMES[hint.reveal](state, step));
  return come.reduce((seen, { step }) => see(seen, step.id), state);
}

/** The state once the score of a step is before the person; the same where there is none, or it was there already. */
export function see(state: State, step: number): State {
  const position = unseenPosition(state, step);
  return position === null ? state : { ...state, seen: [...state.seen, { position, before: ratingOf(state, step) }] };
}

/** How likely the model takes the step of the solution at this position to be right; null where it is not in sight. */
export function scoreInSight(state: State, position: number): number | null {
  const seen = state.seen.some((one) => one.position === position);
  return seen ? (state.hint?.scores[position] ?? null) : null;
}

/** The score that the person gets by asking at this step; null where there is nothing to ask for. */
export function scoreOnRequest(state: State, step: number): number | null {
  const position = state.hint?.reveal === "on_request" ? unseenPosition(state, step) : null;
  return position === null ? null : (state.hint?.scores[position] ?? null);
}

/** The position of a step that is reached and whose score was not seen yet; null for other completions, too. */
function unseenPosition(state: State, step: number): number | null {
  const entry = state.steps.find(({ alternatives }) => alternatives[0]?.id === step);
  if (!entry || state.hint?.scores[entry.position] == null) return null;
  if (state.seen.some((one) => one.position === entry.position)) return null;
  return rows(state).some((row) => row.step.id === step && row.reached) ? entry.position : null;
}

function ratingOf(state: State, step: number): Seen["before"] {
  const { answer } = markOf(state.work, step);
  return answer === null || answer === "unsure" ? null : ({ good: 1, neutral: 0, bad: -1 } as const)[answer];
}
