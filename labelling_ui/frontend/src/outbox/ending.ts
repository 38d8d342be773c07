import { ApiError } from "../api/call";
import type { Api } from "../api/endpoints";
import type { Submission } from "../api/types";
import type { DraftBody } from "../state/draft";

/** A solution that is given back to the queue, why, and what had been said of it by then. */
export interface Skip {
  lease: number;
  solution: number;
  reason: string;
  draft: DraftBody;
}

/** How the work on a solution ends: it is handed in, or skipped. */
export type Ending = { submission: Submission } | { skip: Skip };

/** The same ending sent twice is one: a lease is given back once, a submission has an id of its own. */
export function idOf(ending: Ending): string {
  return "skip" in ending ? `skip-${ending.skip.lease}` : ending.submission.submission_id;
}

export function leaseOf(ending: Ending): number | null {
  return "skip" in ending ? ending.skip.lease : ending.submission.lease;
}

/**
 * Brings it to the server, whose rules decide. A skip that comes after the lease ran out is kept, too; what was handed
 * in elsewhere meanwhile stands, and the skip of it says nothing any more.
 */
export async function deliver(api: Pick<Api, "submit" | "release">, ending: Ending): Promise<void> {
  if ("submission" in ending) return void (await api.submit(ending.submission));
  try {
    await api.release(ending.skip.lease, ending.skip.reason);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "lease_ended")) throw error;
  }
}
