import type { FinishReason, OwnLabel, PathEntry, StepJudgement, StepPosition, Submission, Task } from "../api/types";
import { ANSWER_OF, type Rating, RATING_OF } from "../vocabulary";
import { placesOf } from "./choosing";
import { firstErrorIndex, ownStepsAt, readiness, rows } from "./derived";
import { NO_DIMENSIONS, toDimensions } from "./dimensions";
import type { Asked, DraftBody } from "./draft";
import { BLANK_MARK, BLANK_WORK, type Mark, markOf, type State, type Work } from "./model";

/**
 * The submission of finished work, or null while something is missing. `submissionId` is a UUID created here; `basedOn`
 * is the person's own revision that the work is based on, 0 for none.
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
    total_ms: Math.round(state.total_ms),
    comment: state.work.comment.trim(),
    reference_disputed: state.work.referenceDisputed,
    ...progressOf(state, ready.finish),
    path: toPath(state),
    ...(state.hint && { hints_seen: [...state.hints_seen] }),
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
      // The path continues through this step unless it ends at the error or was never rated.
      chosen: main && said !== null && !endsHere ? main.step.id : null,
      own_text: ownText || null,
      dwell_ms: dwellAt(state, entry),
      ratings: shown.map(({ step, reached }) => toJudgement(state, step.id, { reached, behindError: error >= 0 && index > error })),
    };
  });
}

/** The positions that were reached. Unrated candidates were not looked at, so they are left out. */
function toChosenPath(state: State): PathEntry[] {
  const error = firstErrorIndex(state);
  return placesOf(state).map(({ entry, way }, index) => ({
    position: entry.position,
    chosen: way && "step" in way ? way.step : null,
    own_text: way && "own" in way ? way.own : null,
    dwell_ms: dwellAt(state, entry),
    ratings: entry.alternatives
      .filter((step) => state.work.marks[step.id])
      .map((step) => toJudgement(state, step.id, { reached: true, behindError: error >= 0 && index > error })),
  }));
}

function toJudgement(state: State, step: number, place: { reached: boolean; behindError: boolean }): StepJudgement {
  const mark = place.reached ? markOf(state.work, step) : BLANK_MARK;
  const { answer, accepted, flagged, error_type } = mark;
  const spans = mark.spans.map((span) => ({ ...span, comment: span.comment.trim() }));
  const notes = { flagged, error_type, comment: mark.comment.trim(), spans };
  // The server rejects spans in an unreached step.
  if (answer === null) return { step, state: "not_reached", rating: null, ...notes, spans: [] };
  const dimensions = toDimensions(mark.dimensions, state.scheme, place);
  const judgement = { step, ...notes, ...(dimensions && { dimensions }) };
  if (answer === "unsure") return { ...judgement, state: "unsure", rating: null };
  return { ...judgement, state: "rated", rating: RATING_OF[answer], ...(accepted && { accepted: true }) };
}

function dwellAt({ dwell_ms }: State, { alternatives }: StepPosition): number {
  return Math.round(alternatives.reduce((sum, step) => sum + (dwell_ms[step.id] ?? 0), 0));
}

type Rated = OwnLabel["path"][number]["ratings"][number] | StepJudgement;

/** A submitted label as work to continue: what `toSubmission` would turn into this label. */
export function toWork(label: OwnLabel): Work {
  const chosen: Record<number, number> = {};
  const marks: Record<number, Mark> = {};
  const ownSteps: Record<number, string> = {};
  for (const place of label.path) {
    for (const said of place.ratings ?? []) marks[said.step] = toMark(said);
    if (place.chosen != null) chosen[place.position] = place.chosen;
    if (place.own_text != null) ownSteps[place.position] = place.own_text;
  }
  const { finish_reason: finish, reason, comment, reference_disputed: referenceDisputed } = label;
  const stop = finish === "give_up" || finish === "bad_problem" ? { kind: finish, reason } : null;
  const last = label.path.at(-1);
  const endsAt = !stop && last && (last.chosen != null || last.own_text != null) ? last.position : null;
  const { progress = null } = label;
  return { ...BLANK_WORK, marks, ownSteps, chosen, endsAt, comment, referenceDisputed, stop, progress };
}

/** The same as a draft. Time is stored by position, at its first completion. */
export function asDraft(task: Task, label: OwnLabel): DraftBody {
  const dwell: Record<number, number> = {};
  for (const { position, dwell_ms: ms } of label.path) {
    const step = task.solution.steps.find((at) => at.position === position)?.alternatives[0];
    if (step && ms) dwell[step.id] = ms;
  }
  return {
    format: 1,
    work: toWork(label),
    asked: askedOf(label),
    cursor: task.solution.steps[0]?.alternatives[0]?.id ?? 0,
    dwell_ms: dwell,
    total_ms: label.total_ms ?? 0,
    hints_seen: [],
    edited_at: label.submitted_at,
  };
}

/** Everything in the label was asked for. */
function askedOf({ path }: OwnLabel): Asked {
  return {
    steps: path.flatMap(({ ratings = [] }) => ratings.map(({ step }) => step)),
    own: path.flatMap(({ position, own_text: own }) => (own == null ? [] : [position])),
  };
}

export function toMark(rated: Rated): Mark {
  const { state, rating, accepted = false, flagged = false, error_type = "", comment = "", spans = [] } = rated;
  const answer = state === "rated" ? ANSWER_OF[rating as Rating] : state === "unsure" ? "unsure" : null;
  return { answer, accepted, flagged, error_type, comment, spans, dimensions: { ...NO_DIMENSIONS, ...rated.dimensions } };
}
