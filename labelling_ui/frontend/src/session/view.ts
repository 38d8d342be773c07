import type { ClaimReason, Explanation, Progress, Task } from "../api/types";
import type { Guidelines } from "../config";
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

/** Everything that the page shows. A new object at every change. */
export interface View {
  task: Task | null;
  state: State | null;
  /** The next solution, if it was prefetched: it will be shown at once, without the network. */
  next: Task | null;
  idle: Idle;
  saved: Saving;
  /** False if the browser cannot keep unsent work across a closed tab. */
  durable: boolean;
  waiting: number;
  /** The server's explanation if it cannot accept anything now; else empty. */
  trouble: string;
  /** Whether the person revises an own label, which cannot be skipped. */
  revising: boolean;
  refused: OutboxEntry[];
  conflict: Conflict | null;
  progress: Progress | null;
  /** Why the lease ended; a submission is stored all the same. */
  leaseEnded: string | null;
  /** When the lease expires without a heartbeat, milliseconds since 1970; null if never. */
  heldUntil: number | null;
  sitting: SittingView;
  /** The error in practice; else empty. */
  notice: string;
  /** The version at the side, which a submission states. */
  guidelines: Guidelines;
  /** Whether it replaced an older one that the page had shown, and the person has not dismissed that notice. */
  guidelinesChanged: boolean;
  /** Parts of the current work that the project no longer asks for, and where they moved. */
  moved: readonly Moved[];
  practice: PracticeView | null;
}

/** The person's progress in the practice set. */
export interface PracticeView {
  /** No solution of this round is answered yet. */
  begins: boolean;
  /** The number of the current solution in this round, from 1; and how many of the round were right. */
  place: number;
  of: number;
  right: number;
  /** Number of solutions in the set, and of those right last time. */
  total: number;
  known: number;
  /** How the current answer compares with the known one; null until it is submitted. */
  explanation: Explanation | null;
}
