import { callAPI, type Caller } from "./call";
import type { Claim, Expiry, Progress, SavedDraft, StoredDraft, Submission, SubmissionReceipt } from "./types";

/** What the workbench asks of the server. The session is written against this, so tests can stand in for it. */
export interface Api {
  claim(holding: number[]): Promise<Claim>;
  heartbeat(lease: number): Promise<Expiry>;
  release(lease: number, reason: string): Promise<void>;
  saveDraft(lease: number, version: number, body: StoredDraft["body"]): Promise<SavedDraft>;
  submit(submission: Submission): Promise<SubmissionReceipt>;
  progress(): Promise<Progress>;
}

export function createApi(caller: Caller, projectSlug: string): Api {
  const project = `/projects/${projectSlug}`;
  return {
    claim: (holding) => callAPI(caller, "POST", `${project}/claim/`, { holding }),
    heartbeat: (lease) => callAPI(caller, "POST", `/leases/${lease}/heartbeat/`, {}),
    release: (lease, reason) => callAPI(caller, "POST", `/leases/${lease}/release/`, { reason }),
    saveDraft: (lease, version, body) => callAPI(caller, "PUT", `/leases/${lease}/draft/`, { version, body }),
    submit: (submission) => callAPI(caller, "POST", `${project}/annotations/`, submission),
    progress: () => callAPI(caller, "GET", `${project}/my-progress/`),
  };
}
