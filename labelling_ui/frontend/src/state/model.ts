import type { Hint, Scheme, Span, Step, StepPosition } from "../api/types";
import type { Answer, GivenUp, Rating } from "../vocabulary";
import { NO_DIMENSIONS, type StepDimensions, type DimensionAction } from "./dimensions";
import type { SpanAction } from "./spans";

/** The answers to a step. Null means unrated; steps after the first error are never rated. */
export type { Answer } from "../vocabulary";

export interface Mark {
  readonly answer: Answer | null;
  /** The answer was given to several steps at once, by one key. */
  readonly accepted: boolean;
  readonly flagged: boolean;
  readonly error_type: string;
  readonly comment: string;
  /** The marks in the text, in the order they were made. */
  readonly spans: readonly Span[];
  readonly dimensions: StepDimensions;
}

export const BLANK_MARK: Mark = {
  answer: null,
  accepted: false,
  flagged: false,
  error_type: "",
  comment: "",
  spans: [],
  dimensions: NO_DIMENSIONS,
};

/** The person ends the work before every step is rated. */
export interface Stop {
  readonly kind: GivenUp;
  readonly reason: string;
}

/**
 * Everything that undo and redo cover. Marks are keyed by step id, own steps by position. If a path is chosen, `chosen`
 * has the candidate taken at each position, and `endsAt` the position after which the solution is complete. `progress`,
 * 0 to 4, is how far the solution was at its first error.
 */
export interface Work {
  readonly marks: Readonly<Record<number, Mark>>;
  readonly ownSteps: Readonly<Record<number, string>>;
  readonly chosen: Readonly<Record<number, number>>;
  readonly endsAt: number | null;
  readonly comment: string;
  readonly referenceDisputed: boolean;
  readonly stop: Stop | null;
  readonly progress: number | null;
}

export const BLANK_WORK: Work = {
  marks: {},
  ownSteps: {},
  chosen: {},
  endsAt: null,
  comment: "",
  referenceDisputed: false,
  stop: null,
  progress: null,
};

/** Work with the step where it was done, so that undo returns to the place too. */
export interface Moment {
  readonly work: Work;
  readonly cursor: number;
}

/** One row of the solution as shown. */
export interface Row {
  readonly step: Step;
  readonly position: number;
  /** False for an alternative at the same position. */
  readonly main: boolean;
  /** False after the first error: shown grey, not rated. */
  readonly reached: boolean;
  /** If a path is chosen: the candidate's number at its position, and whether it is taken. */
  readonly candidate?: { readonly number: number; readonly of: number; readonly taken: boolean };
}

/** The model's score of a position was shown; `before` is the person's rating at that time, null for none. */
export interface Seen {
  readonly position: number;
  readonly before: Rating | null;
}

/**
 * The labelling of one solution. `cursor` is a step id. Time is not part of work: undo does not give time back.
 * `typing` names the text being typed, so that one run of typing is one undo.
 */
export interface State {
  readonly steps: readonly StepPosition[];
  readonly scheme: Scheme;
  readonly work: Work;
  readonly cursor: number;
  readonly past: readonly Moment[];
  readonly future: readonly Moment[];
  readonly typing: string | null;
  readonly dwell_ms: Readonly<Record<number, number>>;
  readonly total_ms: number;
  /** Which positions have scores and when they are shown; null if the person sees none. */
  readonly hint: Hint | null;
  /** Positions whose score the person requested. */
  readonly asked: readonly number[];
  /** The scores that the server has sent, by position, and those seen, in order. */
  readonly scores: Readonly<Record<number, number>>;
  readonly hints_seen: readonly Seen[];
}

type ChoosingAction =
  | { type: "choose"; step: number }
  | { type: "write_own"; position: number }
  | { type: "complete" }
  | { type: "onward" };

/** The person requests the model's score of a step; the server has sent one. */
type HintAction = { type: "hint"; step: number } | { type: "score"; position: number; score: number };

export type Action =
  | SpanAction
  | HintAction
  | ChoosingAction
  | { type: "rate"; step: number; answer: Answer }
  /** Both accept only `seen` steps, whose end has been on the screen. */
  | { type: "first_error"; step: number; seen: ReadonlySet<number> }
  | { type: "no_error"; seen: ReadonlySet<number> }
  | { type: "flag"; step: number }
  | { type: "error_type"; step: number; value: string }
  | { type: "step_comment"; step: number; value: string }
  | DimensionAction
  | { type: "progress"; value: number }
  | { type: "own_step"; position: number; value: string }
  | { type: "comment"; value: string }
  | { type: "dispute_reference" }
  | { type: "stop"; kind: Stop["kind"]; reason: string }
  | { type: "continue" }
  | { type: "go"; step: number }
  | { type: "move"; by: number }
  | { type: "undo" }
  | { type: "redo" }
  | { type: "spend"; ms: number };

/** Whether the scheme offers this answer. */
export function offers(scheme: Scheme, answer: Answer): boolean {
  if (answer === "neutral") return scheme.offer_neutral;
  return answer !== "unsure" || scheme.offer_unsure;
}

export function markOf(work: Work, step: number): Mark {
  return work.marks[step] ?? BLANK_MARK;
}
