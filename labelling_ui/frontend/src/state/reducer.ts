import type { Task } from "../api/types";
import { choose, complete, isPassed, placesOf, writeOwn } from "./choosing";
import { acceptable, errorRow, firstErrorIndex, firstUnseen, left, mayAccept, rows } from "./derived";
import { reduceDimensions, withoutCritique, type DimensionAction } from "./dimensions";
import { ask, showScore } from "./hints";
import { type Action, type Answer, BLANK_WORK, type Mark, markOf, type Row, type State, type Work } from "./model";
import { reduceSpans, withoutErrorTypes, type SpanAction } from "./spans";

const UNDO_DEPTH = 500;
const NO_STEP = -1;

export function startState(task: Pick<Task, "solution" | "scheme"> & Partial<Pick<Task, "hint">>): State {
  const first = task.solution.steps[0]?.alternatives[0];
  return {
    steps: task.solution.steps,
    scheme: task.scheme,
    work: BLANK_WORK,
    cursor: first?.id ?? 0,
    past: [],
    future: [],
    typing: null,
    dwell_ms: {},
    total_ms: 0,
    hint: task.hint ?? null,
    asked: [],
    scores: {},
    hints_seen: [],
  };
}

/** A solution that nobody sees yet: no step is reached or seen. */
export function stateAhead(task: Parameters<typeof startState>[0]): State {
  return { ...startState({ ...task, hint: null }), cursor: NO_STEP };
}

/** The next state. An action that cannot apply (an unreached step, nothing to undo) returns the same state. */
export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "rate":
      return rate(state, action.step, action.answer);
    case "first_error":
      return firstErrorHere(state, action.step, action.seen);
    case "no_error":
      return acceptRest(state, action.seen);
    case "flag":
      return changeMark(state, action.step, (mark) => ({ ...mark, flagged: !mark.flagged }));
    case "error_type":
      if (markOf(state.work, action.step).answer !== "bad") return state;
      return changeMark(state, action.step, (mark) => ({ ...mark, error_type: action.value }));
    case "step_comment":
      return changeMark(state, action.step, (mark) => ({ ...mark, comment: action.value }), `step ${action.step}`);
    case "mark_span":
    case "span_comment":
    case "span_error_type":
    case "remove_span":
      return changeSpans(state, action);
    case "hint":
      return ask(state, action.step);
    case "score":
      return showScore(state, action.position, action.score);
    case "clause":
    case "consistency":
    case "redundant":
    case "recovers":
    case "critique":
    case "critique_rating":
      return changeDimensions(state, action);
    case "progress":
      return firstErrorIndex(state) < 0 ? state : change(state, { ...state.work, progress: action.value });
    case "own_step":
      return writeOwnStep(state, action.position, action.value);
    case "write_own":
      return state.work.ownSteps[action.position] === undefined ? writeOwnStep(state, action.position, "") : state;
    case "choose":
      return take(state, action.step);
    case "complete":
      return endHere(state);
    case "onward":
      return onward(state);
    case "comment":
      return change(state, { ...state.work, comment: action.value }, { typing: "comment" });
    case "dispute_reference":
      return change(state, { ...state.work, referenceDisputed: !state.work.referenceDisputed });
    case "stop":
      return change(
        state,
        { ...state.work, stop: { kind: action.kind, reason: action.reason } },
        { typing: `stop ${action.kind}` },
      );
    case "continue":
      return state.work.stop ? change(state, { ...state.work, stop: null }) : state;
    case "go":
      return go(state, action.step);
    case "move":
      return move(state, action.by);
    case "undo":
      return undo(state);
    case "redo":
      return redo(state);
    case "spend":
      return spend(state, action.ms);
  }
}

function change(state: State, work: Work, { cursor = state.cursor, typing = null as string | null } = {}): State {
  const sameRun = typing !== null && typing === state.typing && state.past.length > 0;
  const past = sameRun
    ? state.past
    : [...state.past, { work: state.work, cursor: state.cursor }].slice(-UNDO_DEPTH);
  return { ...state, work, cursor, past, future: [], typing };
}

function rowOf(state: State, step: number): Row | undefined {
  return rows(state).find((row) => row.step.id === step);
}

function changeMark(state: State, step: number, edit: (mark: Mark) => Mark, typing: string | null = null): State {
  if (!rowOf(state, step)?.reached) return state;
  return change(state, withMark(state.work, step, edit(markOf(state.work, step))), { cursor: step, typing });
}

function changeSpans(state: State, action: SpanAction): State {
  const { answer, spans } = markOf(state.work, action.step);
  const after = reduceSpans(spans, action);
  if (after === spans || (action.type === "span_error_type" && answer !== "bad")) return state;
  const typing = action.type === "span_comment" ? `span ${action.index} of ${action.step}` : null;
  return changeMark(state, action.step, (mark) => ({ ...mark, spans: after }), typing);
}

function changeDimensions(state: State, action: DimensionAction): State {
  const critical = action.type === "critique" || action.type === "critique_rating";
  if (critical && markOf(state.work, action.step).answer !== "bad") return state;
  const typing = action.type === "critique" ? `critique ${action.step}` : null;
  return changeMark(state, action.step, (mark) => ({ ...mark, dimensions: reduceDimensions(mark.dimensions, action) }), typing);
}

function rate(state: State, step: number, answer: Answer): State {
  if (!rowOf(state, step)?.reached) return state;
  const work = withMark(state.work, step, answered(markOf(state.work, step), answer));
  return change(state, work, { cursor: nextUnrated({ ...state, work }, step) });
}

function writeOwnStep(state: State, position: number, value: string): State {
  const typing = `own ${position}`;
  if (!state.scheme.choose_path) {
    return change(state, { ...state.work, ownSteps: { ...state.work.ownSteps, [position]: value } }, { typing });
  }
  // The comparison steps are removed with it: the cursor stays.
  const here = rows(state).find((row) => row.position === position && row.main);
  if (!here) return state;
  return change(state, writeOwn(state.work, position, value), { cursor: here.step.id, typing });
}

function take(state: State, step: number): State {
  const row = rowOf(state, step);
  const work = row?.candidate && choose(state, step, row.position);
  return work ? change(state, work, { cursor: nextUnrated({ ...state, work }, step) }) : state;
}

function endHere(state: State): State {
  const work = state.scheme.choose_path && complete(state);
  if (!work) return state;
  const ended = { ...state, work };
  const last = rows(ended).filter((row) => row.main).at(-1);
  return change(state, work, { cursor: nextUnrated(ended, last?.step.id ?? state.cursor) });
}

/** Moves on from a position where nothing is left to rate. */
function onward(state: State): State {
  const here = placesOf(state).find(({ entry }) => entry.alternatives.some((step) => step.id === state.cursor));
  return here && isPassed(here) ? go(state, nextUnrated(state, state.cursor)) : state;
}

/** The next step without an answer after `step`, then from the top; `step` itself when all are answered. */
function nextUnrated(state: State, step: number): number {
  const missing = left(state).map((row) => row.step.id);
  const waiting = new Set(missing);
  const visible = rows(state).map((row) => row.step.id);
  const after = visible.slice(visible.indexOf(step) + 1).find((id) => waiting.has(id));
  return after ?? missing[0] ?? step;
}

/**
 * Marks a step bad and accepts the steps before it, including a former first error; like `acceptRest`, only once they
 * were seen.
 */
function firstErrorHere(state: State, step: number, seen: ReadonlySet<number>): State {
  if (!mayAccept(state)) return rate(state, step, "bad");
  const row = errorRow(state, step);
  if (!row) return state;
  const unseen = firstUnseen(state, seen, step);
  if (unseen) return go(state, unseen.step.id);
  const wasError = ({ position, main, step: { id } }: Row) =>
    main && position < row.position && markOf(state.work, id).answer === "bad";
  const before = [...acceptable(state, step), ...rows(state).filter(wasError)];
  const work = accepting(withMark(state.work, step, answered(markOf(state.work, step), "bad")), before);
  return change(state, work, { cursor: nextUnrated({ ...state, work }, step) });
}

/** Accepts all remaining steps once they were seen; before that it moves to the first unseen one and accepts none. */
function acceptRest(state: State, seen: ReadonlySet<number>): State {
  const unseen = firstUnseen(state, seen);
  if (unseen) return go(state, unseen.step.id);
  const rest = acceptable(state);
  if (rest.length === 0) return state;
  const work = accepting(state.work, rest);
  return change(state, work, { cursor: nextUnrated({ ...state, work }, state.cursor) });
}

function go(state: State, step: number): State {
  if (step === state.cursor || !rowOf(state, step)) return state;
  return { ...state, cursor: step, typing: null };
}

function move(state: State, by: number): State {
  const order = rows(state).map((row) => row.step.id);
  const target = Math.min(order.length - 1, Math.max(0, order.indexOf(state.cursor) + by));
  return go(state, order[target] ?? state.cursor);
}

function undo(state: State): State {
  const before = state.past.at(-1);
  if (!before) return state;
  const now = { work: state.work, cursor: state.cursor };
  return { ...state, ...before, past: state.past.slice(0, -1), future: [now, ...state.future], typing: null };
}

function redo(state: State): State {
  const [after, ...rest] = state.future;
  if (!after) return state;
  const now = { work: state.work, cursor: state.cursor };
  return { ...state, ...after, past: [...state.past, now], future: rest, typing: null };
}

function spend(state: State, ms: number): State {
  if (ms <= 0) return state;
  const here = state.dwell_ms[state.cursor] ?? 0;
  return {
    ...state,
    total_ms: state.total_ms + ms,
    dwell_ms: { ...state.dwell_ms, [state.cursor]: here + ms },
  };
}

/**
 * The mark with an answer given to this step alone. Error types and a critique belong to a bad step and are removed
 * with it.
 */
function answered(mark: Mark, answer: Answer): Mark {
  if (answer === "bad") return { ...mark, answer, accepted: false };
  return {
    ...mark,
    answer,
    accepted: false,
    error_type: "",
    spans: withoutErrorTypes(mark.spans),
    dimensions: withoutCritique(mark.dimensions),
  };
}

function withMark(work: Work, step: number, mark: Mark): Work {
  return { ...work, marks: { ...work.marks, [step]: mark } };
}

/** The work with these steps good, accepted together. */
function accepting(work: Work, steps: readonly Row[]): Work {
  return steps.reduce(
    (after, { step }) => withMark(after, step.id, { ...answered(markOf(after, step.id), "good"), accepted: true }),
    work,
  );
}
