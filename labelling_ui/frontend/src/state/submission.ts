import type { FinishReason, PathEntry, StepJudgement, StepPosition, Submission, Task } from "../api/types";
import { placesOf } from "./choosing";
import { firstErrorIndex, ownStepsAt, readiness, rows } from "./derived";
import { toDimensions } from "./dimensions";
import { markOf, type Mark, type State } from "./model";
import { toGiven } from "./spans";
import { RATING_OF } from "../vocabulary";

/**
 * The submission of finished work, or null while something is missing. `submissionId` is a UUID made here once;
 * `basedOn` is the own revision that the work began with, 0 for none.
 */
export function toSubmission(task: Task, state: State, submissionId: string, basedOn = 0): Submission | null {
  const ready = readiness(state);
  if (!ready.ready) return null;
  return {
    submission_id: submissionId,
    solution: task.solution.id,
    lease: task.lease.id,
    based_on: basedOn,
    finish_reason: ready.finish,
    reason: state.work.stop?.reason.trim() ?? "",
    total_ms: Math.round(state.totalMs),
    comment: state.work.comment.trim(),
    reference_disputed: state.work.referenceDisputed,
    ...progressOf(state, ready.finish),
    path: toPath(state),
    ...(state.hint && { hints_seen: state.seen.map((hint) => ({ ...hint })) }),
  };
}

function progressOf({ scheme, work }: State, finish: FinishReason): Pick<Submission, "progress"> {
  const asked = scheme.ask_progress && finish === "found_error" && work.progress !== null;
  return asked ? { progress: work.progress } : {};
}

function toPath(state: State): PathEntry[] {
  if (state.scheme.choose_path) return toChosenPath(state);
  const visible = rows(state);
  const error = firstErrorIndex(state);
  const [ownAt] = ownStepsAt(state);
  return state.steps.map((entry, index) => {
    const shown = visible.filter((row) => row.position === entry.position);
    const main = shown.find((row) => row.main);
    const said = main?.reached ? markOf(state.work, main.step.id).answer : null;
    const endsHere = state.scheme.stop_at_first_error && index === error;
    const ownText = entry.position === ownAt ? (state.work.ownSteps[entry.position] ?? "").trim() : "";
    return {
      position: entry.position,
      // The path goes on through this step unless it ends at the error, or was never judged.
      chosen: main && said !== null && !endsHere ? main.step.id : null,
      own_text: ownText || null,
      dwell_ms: dwellAt(state, entry),
      ratings: shown.map(({ step, reached }) => toWord(state, step.id, { reached, behindError: error >= 0 && index > error })),
    };
  });
}

/** The positions that were come to. Candidates that nothing was said of were not looked at, so they are left out. */
function toChosenPath(state: State): PathEntry[] {
  const error = firstErrorIndex(state);
  return placesOf(state).map(({ entry, way }, index) => ({
    position: entry.position,
    chosen: way && "step" in way ? way.step : null,
    own_text: way && "own" in way ? way.own : null,
    dwell_ms: dwellAt(state, entry),
    ratings: entry.alternatives
      .filter((step) => state.work.marks[step.id])
      .map((step) => toWord(state, step.id, { reached: true, behindError: error >= 0 && index > error })),
  }));
}

/** A judgement with what the project asks beside it. */
function toWord(state: State, step: number, place: { reached: boolean; behindError: boolean }): StepJudgement {
  const mark = place.reached ? markOf(state.work, step) : null;
  const beside = mark?.answer && toDimensions(mark.beside, state.scheme, place);
  return { ...toJudgement(step, mark), ...(beside && { dimensions: beside }) };
}

function dwellAt({ dwellMs }: State, { alternatives }: StepPosition): number {
  return Math.round(alternatives.reduce((sum, step) => sum + (dwellMs[step.id] ?? 0), 0));
}

function toJudgement(step: number, mark: Mark | null): StepJudgement {
  const notes = {
    flagged: mark?.flagged ?? false,
    error_type: mark?.errorType ?? "",
    comment: mark?.comment.trim() ?? "",
    spans: toGiven(mark?.spans ?? []),
  };
  const answer = mark?.answer ?? null;
  // What is not reached has nothing marked in it: the server would say so.
  if (answer === null) return { step, state: "not_reached", rating: null, ...notes, spans: [] };
  if (answer === "unsure") return { step, state: "unsure", rating: null, ...notes };
  return { step, state: "rated", rating: RATING_OF[answer], ...notes, ...(mark?.accepted && { accepted: true }) };
}
