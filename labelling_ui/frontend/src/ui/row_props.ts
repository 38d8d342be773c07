import type { StepPosition } from "../api/types";
import type { Action, Mark, Row } from "../state/model";

/** The actions on any step. They stay the same functions, so that a sheet is not redrawn when it is shown. */
export interface Hands {
  act: (action: Action) => void;
  onComment: (step: number | null) => void;
  onMark: () => void;
  onFirstError: (step: number) => void;
}

/** The values that a step's row and its parts are drawn from. */
export interface RowProps extends Hands, Pick<Row, "step" | "position" | "main" | "reached"> {
  /** If a path is chosen: the number of this candidate at its position, from 1; else null. */
  way: number | null;
  ways: number;
  /** The path continues with this candidate. */
  taken: boolean;
  mark: Mark;
  current: boolean;
  /** The comment field of this step is open. */
  commenting: boolean;
  /** All steps of the solution: one may contradict an earlier one. */
  steps: readonly StepPosition[];
  /** The first error is here; `progress` is how far the solution got, if known. */
  atError: boolean;
  progress: number | null;
  /** An earlier step is bad. */
  behindError: boolean;
  /** The person's own step, if this row asks for one; else null. */
  ownStep: string | null;
  /** The model's score, if it is shown; else null. */
  score: number | null;
  /** Whether the model's score can be requested. */
  mayAsk: boolean;
}
