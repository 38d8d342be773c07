import type { OwnLabel, Task } from "../api/types";
import type { DraftBody } from "./draft";
import type { Asked } from "./fitting";
import { fromDimensions } from "./dimensions";
import { BLANK_WORK, type Mark, type Work } from "./model";
import { fromGiven } from "./spans";
import { ANSWER_OF, type Rating } from "../vocabulary";

type Said = NonNullable<OwnLabel["path"][number]["ratings"]>[number];

/** A label that was handed in, as work to go on with: what `toSubmission` would make this label of. */
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

/** The same as a draft. Time is known by position, and stands with the first completion there. */
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

/** All that it says was asked. */
function askedOf({ path }: OwnLabel): Asked {
  return {
    steps: path.flatMap(({ ratings = [] }) => ratings.map(({ step }) => step)),
    own: path.flatMap(({ position, own_text: own }) => (own == null ? [] : [position])),
  };
}

export function toMark(said: Said): Mark {
  const notes = {
    accepted: said.accepted ?? false,
    flagged: said.flagged ?? false,
    errorType: said.error_type ?? "",
    comment: said.comment ?? "",
    spans: fromGiven(said.spans),
    beside: fromDimensions(said.dimensions),
  };
  if (said.state === "unsure") return { ...notes, answer: "unsure" };
  return { ...notes, answer: said.state === "rated" ? ANSWER_OF[said.rating as Rating] : null };
}
