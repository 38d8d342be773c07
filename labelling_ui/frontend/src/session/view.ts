import type { ClaimReason, Explanation, Progress, Task } from "../api/types";
import type { OutboxEntry } from "../outbox/outbox";
import type { Moved } from "../state/draft";
import type { State } from "../state/model";
import type { Conflict, Saving } from "./draft_keeper";
import type { SittingView } from "./sitting";

/** Why there is no solution on the screen. */
export interface Idle {
  kind: "loading" | "sending" | "unreachable" | "signed_out" | "refused" | "revised" | "practised" | "nothing_to_practise" | ClaimReason;
  message: string;
  retryAt: string | null;
}

/** All that the page shows. A new object at every change. */
export interface View {
  task: Task | null;
  state: State | null;
  /** The solution after this one, where it is in hand: it will be shown at once, without the network. */
  next: Task | null;
  idle: Idle;
  saved: Saving;
  /** False when the browser cannot keep all that is not sent yet across a closed tab. */
  durable: boolean;
  waiting: number;
  /** What the server says of its state, where it cannot take anything now; else empty. */
  trouble: string;
  /** A label of the person's own is open to be changed: it cannot be skipped. */
  revising: boolean;
  refused: OutboxEntry[];
  conflict: Conflict | null;
  progress: Progress | null;
  /** Why the server no longer holds this solution for the person; a submission is kept all the same. */
  leaseEnded: string | null;
  /** Until when it is the person's if no sign of life comes, milliseconds since 1970; null where there is no end. */
  heldUntil: number | null;
  sitting: SittingView;
  /** What went wrong in practice; else empty. */
  notice: string;
  /** What the work on the screen said that the project does not ask any more, and where it stands now. */
  moved: readonly Moved[];
  practice: PracticeView | null;
}

/** Where the person is in the practice set. */
export interface PracticeView {
  /** Nothing of this round is answered yet. */
  begins: boolean;
  /** The solution on the screen, from 1, among those of this round; and how many of the round are right so far. */
  place: number;
  of: number;
  right: number;
  /** All solutions of the set, and those that were right the last time. */
  total: number;
  known: number;
  /** How the answer on the screen stands to what is known; null until it is handed in. */
  explanation: Explanation | null;
}
