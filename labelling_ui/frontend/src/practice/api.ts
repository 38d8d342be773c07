import { callAPI, type Caller } from "../api/call";
import type { Explanation, PracticePlace, Submission, Work } from "../api/types";

/** What practice asks of the server. */
export interface PracticeApi {
  places(): Promise<PracticePlace[]>;
  work(solution: number): Promise<Work>;
  answer(submission: Unleased): Promise<Explanation>;
}

/** Practice is nobody's turn in a queue. */
export type Unleased = Omit<Submission, "lease">;

export function createPracticeApi(caller: Caller, projectSlug: string): PracticeApi {
  const practice = `/projects/${projectSlug}/practice/`;
  return {
    places: () => callAPI(caller, "GET", practice),
    work: (solution) => callAPI(caller, "GET", `${practice}${solution}/`),
    answer: (submission) => callAPI(caller, "POST", practice, submission),
  };
}
