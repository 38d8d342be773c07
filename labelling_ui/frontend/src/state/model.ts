import type { Hint, Scheme, Span, Step, StepPosition } from "../api/types";
import type { Answer, GivenUp, Rating } from "../vocabulary";
import { NO_DIMENSIONS, type StepDimensions, type DimensionAction } from "./dimensions";
import type { SpanAction } from "./spans";

/** What a person can say of a step. Nothing said is null; a step after the first error is never asked about. */
export type { Answer } from "../vocabulary";

export interface Mark {
  readonly answer: Answer | null;
  /** The answer was given to this step together with others, by one key. */
  readonly accepted: boolean;
  readonly flagged: boolean;
  readonly error_type: string;
  readonly comment: string;
  /** What was marked in the text, in the order in which it was. */
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

/** The person ends the work without rating to the end. */
export interface Stop {
  readonly kind: GivenUp;
  readonly reason: string;
}

/**
 * All that undo and redo go over. Marks are keyed by step id, own steps by position. Where the path is chosen: `chosen`
 * has the candidate that was taken at a position, `endsAt` the position behind which nothing is needed. `progress`,
 * 0 to 4, is how far the solution had got at its first error.
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

/** Work with the step it was done at, so that undo goes back to the place too. */
export interface Moment {
  readonly work: Work;
  readonly cursor: number;
}

/** One line of the solution as it stands before the person. */
export interface Row {
  readonly step: Step;
  readonly position: number;
  /** The step of the solution itself; false for another completion at the same position. */
  readonly main: boolean;
  /** False after the first error: shown grey, not rated. */
  readonly reached: boolean;
  /** Where the path is chosen: which of the position's candidates this is, and whether it is taken. */
  readonly candidate?: { readonly number: number; readonly of: number; readonly taken: boolean };
}

/** The model's score of a position came before the person's eyes, who had rated the step `before`; null for not yet. */
export interface Seen {
  readonly position: number;
  readonly before: Rating | null;
}

/**
 * The labelling of one solution. `cursor` is a step id. Time is apart from work: undo does not give
 * time back. `typing` names the text being typed, so that one run of typing is one undo.
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
  /** Where the model has scores and when they are shown; null where the person is shown none. */
  readonly hint: Hint | null;
  /** Positions whose score the person asked for. */
  readonly asked: readonly number[];
  /** The scores that the server has sent, by position, and which were seen, in that order. */
  readonly scores: Readonly<Record<number, number>>;
  readonly hints_seen: readonly Seen[];
}

type ChoosingAction =
  | { type: "choose"; step: number }
  | { type: "write_own"; position: number }
  | { type: "complete" }
  | { type: "onward" };

/** The person asks for the model's score of a step; the server has sent one. */
type HintAction = { type: "hint"; step: number } | { type: "score"; position: number; score: number };

export type Action =
  | SpanAction
  | HintAction
  | ChoosingAction
  | { type: "rate"; step: number; answer: Answer }
  /** Both accept only what was `seen`: steps whose end has stood on the screen. */
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

/** Whether the project lets a step be answered so. */
export function offers(scheme: Scheme, answer: Answer): boolean {
  if (answer === "neutral") return scheme.offer_neutral;
  return answer !== "unsure" || scheme.offer_unsure;
}

export function markOf(work: Work, step: number): Mark {
  return work.marks[step] ?? BLANK_MARK;
}
