import type { StepPosition } from "../api/types";
import type { Action, Mark, Row } from "../state/model";

/** What can be done from any step. These stay the same ones, so that a sheet is not drawn anew when it is shown. */
export interface Hands {
  act: (action: Action) => void;
  onComment: (step: number | null) => void;
  onMark: () => void;
  onFirstError: (step: number) => void;
}

/** What a step's row and each of its parts is drawn from. */
export interface RowProps extends Hands, Pick<Row, "step" | "position" | "main" | "reached"> {
  /** Where the path is chosen: which of so many candidates of the position this is, from 1; else null. */
  way: number | null;
  ways: number;
  /** The path goes on by this candidate. */
  taken: boolean;
  mark: Mark;
  current: boolean;
  /** The comment box of this step is open. */
  commenting: boolean;
  /** All steps of the solution: one may contradict an earlier one. */
  steps: readonly StepPosition[];
  /** The first error is here; how far the solution had got, where that was said. */
  atError: boolean;
  progress: number | null;
  /** A step before this one is bad. */
  behindError: boolean;
  /** The person's own step, where it is asked for at this row; else null. */
  ownStep: string | null;
  /** The model's, where it is in sight; else null. */
  score: number | null;
  /** Whether the model's score may be asked for. */
  mayAsk: boolean;
}
