/** The API's types that the workbench uses, from the API's schema (`npm run types` writes schema.d.ts). */
import type { components } from "./schema";

import type { Rating } from "../vocabulary";

type Schemas = components["schemas"];

export type { FinishReason, Rating, StepKind } from "../vocabulary";
export type Step = Schemas["Step"];
export type StepPosition = Schemas["StepsAtPosition"];
export type Scheme = Schemas["LabelScheme"];
export type Hint = Schemas["TaskHint"];
export type HintScore = Schemas["HintScoreOfStep"];
export type Span = Readonly<Schemas["GivenSpan"]>;
export type Term = Schemas["Term"];
export type Dimensions = Schemas["DimensionsRequest"];
export type Task = Schemas["Task"];
export type StoredDraft = Schemas["StoredDraft"];
export type SavedDraft = Schemas["SavedDraft"];
export type Expiry = Schemas["Expiry"];
export type Claim = Schemas["ClaimAnswer"];
export type ClaimReason = NonNullable<Claim["reason"]>;
export type SubmissionReceipt = Schemas["ReceiptAndTask"];
export type OwnLabel = Schemas["OwnLabel"];
export type OwnWork = Schemas["LabelToRevise"];
export type Project = Schemas["ProjectRow"];
export type Progress = Schemas["OwnProgress"];
export type Example = Schemas["Example"];
export type PracticePlace = Schemas["Place"];
export type Explanation = Schemas["Explanation"];
export type PracticeOutcome = Explanation["outcome"];
/** A task without its lease. */
export type Work = Schemas["Work"];
export type ErrorBody = Schemas["ErrorBody"];

// Every field is required, also those with a default in the API. Fields that only some projects use stay optional.
type Said<Shape, Narrower> = Omit<Required<Shape>, keyof Narrower> & Narrower;

export type StepJudgement = Said<Schemas["GivenRatingRequest"], { rating: Rating | null; accepted?: true; spans: Span[]; dimensions?: Dimensions }>;
export type PathEntry = Said<Schemas["GivenPositionRequest"], { ratings: StepJudgement[]; dwell_ms: number }>;
export type Submission = Said<
  Schemas["SubmissionRequest"],
  // A submission without a hint has no hints field. The page that sends it adds the version of the guidelines it shows.
  { path: PathEntry[]; total_ms: number; progress?: number; hints_seen?: Schemas["SeenHintRequest"][]; guidelines?: number }
>;
