import { callAPI, type Caller } from "./call";
import type { Claim, Expiry, HintScore, OwnWork, Progress, SavedDraft, StoredDraft, Submission, SubmissionReceipt } from "./types";

/** What the workbench asks of the server. The session is written against this, so tests can stand in for it. */
export interface Api {
  claim(holding: number[]): Promise<Claim>;
  heartbeat(lease: number): Promise<Expiry>;
  release(lease: number, reason: string): Promise<void>;
  /** `basedOn` is the own revision that is being revised, 0 for none. */
  saveDraft(lease: number, version: number, body: StoredDraft["body"], basedOn: number): Promise<SavedDraft>;
  /** The model's score of one step. */
  hintScore(lease: number, position: number): Promise<HintScore>;
  submit(submission: Submission): Promise<SubmissionReceipt>;
  /** What the person handed in on a solution, and the solution. */
  ownWork(solution: number): Promise<OwnWork>;
  progress(): Promise<Progress>;
}

export function createApi(caller: Caller, projectSlug: string): Api {
  const project = `/projects/${projectSlug}`;
  return {
    claim: (holding) => callAPI(caller, "POST", `${project}/claim/`, { holding }),
    heartbeat: (lease) => callAPI(caller, "POST", `/leases/${lease}/heartbeat/`, {}),
    release: (lease, reason) => callAPI(caller, "POST", `/leases/${lease}/release/`, { reason }),
    saveDraft: (lease, version, body, basedOn) =>
      callAPI(caller, "PUT", `/leases/${lease}/draft/`, { version, body, based_on: basedOn }),
    hintScore: (lease, position) => callAPI(caller, "GET", `/leases/${lease}/hints/${position}/`),
    submit: (submission) => callAPI(caller, "POST", `${project}/annotations/`, submission),
    ownWork: (solution) => callAPI(caller, "GET", `${project}/solutions/${solution}/my-label/`),
    progress: () => callAPI(caller, "GET", `${project}/my-progress/`),
  };
}
