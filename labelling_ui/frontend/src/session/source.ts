import { ApiError } from "../api/call";
import type { OwnLabel, Task } from "../api/types";
import type { Idle } from "./view";

/** A solution to show and, where one's own label on it is to be changed, that label. */
export interface Work {
  task: Task;
  label: OwnLabel | null;
}

/** Where solutions come from. */
export interface Source {
  /** Why there is none, as far as is known. */
  readonly idle: Idle;
  /** The next solution, where it is in hand beside the one on the screen. */
  readonly next: Task | null;
  /** Gives the next solution, where there is one in hand; the one on the screen, if any, is done with. */
  take(): Work | null;
  /** Fetches what is still wanted. */
  refill(): Promise<void>;
}

export const LOADING: Idle = { kind: "loading", message: "", retryAt: null };

/** Why an attempt to get a solution failed. */
export function failure(error: unknown): Idle {
  const kind = !(error instanceof ApiError) || error.temporary ? "unreachable" : "refused";
  return {
    kind: error instanceof ApiError && error.signedOut ? "signed_out" : kind,
    message: messageOf(error),
    retryAt: null,
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
