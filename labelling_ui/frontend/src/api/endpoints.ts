import { callAPI, type Caller } from "./call";
import type { Guidelines } from "../config";
import type { Claim, Expiry, HintScore, OwnWork, Progress, Project, SavedDraft, StoredDraft, Submission, SubmissionReceipt } from "./types";

/** The server as the session uses it; tests replace it. */
export type Api = ReturnType<typeof createApi>;

export function createApi(caller: Caller, projectSlug: string) {
  const project = `/projects/${projectSlug}`;
  return {
    claim: (holding: number[]) => callAPI<Claim>(caller, "POST", `${project}/claim/`, { holding }),
    heartbeat: (lease: number) => callAPI<Expiry>(caller, "POST", `/leases/${lease}/heartbeat/`, {}),
    release: (lease: number, reason: string) => callAPI<void>(caller, "POST", `/leases/${lease}/release/`, { reason }),
    /** `basedOn` is the person's own revision that is being revised, 0 for none. */
    saveDraft: (lease: number, version: number, body: StoredDraft["body"], basedOn: number) =>
      callAPI<SavedDraft>(caller, "PUT", `/leases/${lease}/draft/`, { version, body, based_on: basedOn }),
    /** The model's score of one step. */
    hintScore: (lease: number, position: number) => callAPI<HintScore>(caller, "GET", `/leases/${lease}/hints/${position}/`),
    /** With `holding`, the answer has the next task. */
    submit: (submission: Submission, holding?: number[]) =>
      callAPI<SubmissionReceipt>(caller, "POST", `${project}/annotations/`, { ...submission, holding }),
    /** The person's own label on a solution, and the solution. */
    ownWork: (solution: number) => callAPI<OwnWork>(caller, "GET", `${project}/solutions/${solution}/my-label/`),
    /** The current guidelines. */
    guidelines: async (): Promise<Guidelines> => {
      const { guidelines_version: version, guidelines, examples } = await callAPI<Project>(caller, "GET", `${project}/`);
      return { version, text: guidelines, examples };
    },
    progress: () => callAPI<Progress>(caller, "GET", `${project}/my-progress/`),
  };
}
