/** The shapes of the API that the workbench speaks (durations in milliseconds, times in ISO 8601). */

export type Rating = 1 | 0 | -1;
export type StepKind = "reasoning" | "plan" | "tool_call" | "observation" | "edit" | "answer";
export type FinishReason = "solution" | "found_error" | "give_up" | "bad_problem";

export interface Step {
  id: number;
  alternative: number;
  text: string;
  kind: StepKind;
}

export interface StepPosition {
  position: number;
  alternatives: Step[];
}

export interface Problem {
  id: number;
  text: string;
  domain: string;
  reference_answer: string | null;
  reference_solution: string | null;
}

export interface Scheme {
  stop_at_first_error: boolean;
  rate_alternatives: boolean;
  ask_own_step: boolean;
  error_types: string[];
  reference: "shown" | "on_request" | "hidden";
}

export interface Task {
  lease: { id: number; expires_at: string };
  solution: { id: number; steps: StepPosition[]; generator: string | null };
  problem: Problem;
  scheme: Scheme;
  draft: StoredDraft | null;
}

export interface StoredDraft {
  version: number;
  body: unknown;
}

export type ClaimReason = "done" | "all_leased" | "not_annotator" | "holding_enough" | "paused";

export interface Claim {
  task: Task | null;
  reason: ClaimReason | null;
  message: string;
  retry_at: string | null;
}

export interface StepJudgement {
  step: number;
  state: "rated" | "unsure" | "not_reached";
  rating: Rating | null;
  flagged: boolean;
  error_type: string;
  comment: string;
}

export interface PathEntry {
  position: number;
  chosen: number | null;
  own_text: string | null;
  dwell_ms: number;
  ratings: StepJudgement[];
}

export interface Submission {
  submission_id: string;
  solution: number;
  lease: number | null;
  finish_reason: FinishReason;
  reason: string;
  total_ms: number;
  comment: string;
  reference_disputed: boolean;
  path: PathEntry[];
}

export interface SubmissionReceipt {
  id: number;
  revision: number;
  counted: boolean;
  first_error: number | null;
}

export interface Progress {
  today: number;
  total: number;
  median_seconds: number | null;
}

export interface ErrorBody {
  code: string;
  message: string;
  extra: unknown;
}
