import type { FinishReason, PathEntry, Rating, StepJudgement, Submission, Task } from "../api/types";
import { firstErrorIndex, ownStepPosition, readiness, rows } from "./derived";
import { toDimensions } from "./dimensions";
import { markOf, type Answer, type Mark, type State } from "./model";
import { toGiven } from "./spans";

const RATINGS: Record<Exclude<Answer, "unsure">, Rating> = { good: 1, neutral: 0, bad: -1 };

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
  const visible = rows(state);
  const error = firstErrorIndex(state);
  const ownAt = ownStepPosition(state);
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
      dwell_ms: Math.round(entry.alternatives.reduce((sum, step) => sum + (state.dwellMs[step.id] ?? 0), 0)),
      ratings: shown.map(({ step, reached }) => {
        const mark = reached ? markOf(state.work, step.id) : null;
        const beside = mark?.answer && toDimensions(mark.beside, state.scheme, { behindError: error >= 0 && index > error });
        return { ...toJudgement(step.id, mark), ...(beside && { dimensions: beside }) };
      }),
    };
  });
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
  return { step, state: "rated", rating: RATINGS[answer], ...notes };
}
