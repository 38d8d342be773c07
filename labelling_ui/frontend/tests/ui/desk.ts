import type { Progress } from "../../src/api/types";
import type { Config } from "../../src/config";
import type { View } from "../../src/session/view";

/** The config of a page of the project Algebra. */
export const config: Config = {
  project: { slug: "algebra", name: "Algebra" },
  csrfToken: "",
  apiRoot: "/api/v1/",
  guidelines: { version: 0, text: "", examples: [] },
  terms: Object.fromEntries(
    (["first_error", "rating", "unsure", "reference", "hint", "screening"] as const).map((about) => [
      about,
      { name: about, definition: `What ${about} means`, url: `/glossary/#${about}` },
    ]),
  ) as Config["terms"],
  user: { name: "ada" },
  leaseMinutes: 60,
  pace: { idleSeconds: 60, breakAfterMinutes: 0, goal: 0 },
  prefetchDepth: 1,
  heartbeatSeconds: 60,
  homeUrl: "/p/algebra/",
  revise: null,
  sentBack: null,
  sentBackUrl: "/p/algebra/sent-back/",
  practice: false,
  labelUrl: "/p/algebra/label/",
  practiceUrl: null,
  screeningUrl: null,
  labelsUrl: "/p/algebra/labels/",
  loginUrl: "/login/",
  markUrl: "/mark.svg",
};

export const PROGRESS: Progress = { today: 7, total: 70, median_seconds: null, sent_back: 0, screening: null };

/** A view without a solution and without problems. */
export function view(shown: Partial<View> = {}): View {
  return {
    task: null,
    state: null,
    next: null,
    idle: { kind: "loading", message: "", retryAt: null },
    saved: "saved",
    durable: true,
    waiting: 0,
    trouble: "",
    revising: false,
    refused: [],
    conflict: null,
    progress: PROGRESS,
    leaseEnded: null,
    heldUntil: null,
    sitting: { done: 0, goal: 0, workedMs: 0, proposal: null, restingSince: null },
    notice: "",
    guidelines: config.guidelines,
    guidelinesChanged: false,
    moved: [],
    practice: null,
    ...shown,
  };
}
