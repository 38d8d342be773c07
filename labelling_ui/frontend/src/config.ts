import type { Example } from "./api/types";

/** A version of the project's guidelines; number 0 and empty if there are none. */
export interface Guidelines {
  version: number;
  /** Text in the same light markup as steps, never HTML. */
  text: string;
  examples: Example[];
}

export type Term = "reference" | "screening" | "first_error" | "rating" | "hint" | "unsure";

export interface Definition {
  name: string;
  definition: string;
  url: string;
}

/** The page's settings for the island, as JSON in `#workbench-config`. */
export interface Config {
  project: { slug: string; name: string };
  csrfToken: string;
  apiRoot: string;
  /** The version that applied when the page was made. */
  guidelines: Guidelines;
  /** The glossary's terms in the workbench. */
  terms: Record<Term, Definition>;
  user: { name: string };
  /** How long a lease lasts after a heartbeat. */
  leaseMinutes: number;
  /** Minutes of work before a break is proposed, 0 for never, and the initial goal of a sitting in solutions. */
  pace: { idleSeconds: number; breakAfterMinutes: number; goal: number };
  /** Number of solutions to prefetch. */
  prefetchDepth: number;
  /** Interval of the heartbeats that keep the leases. */
  heartbeatSeconds: number;
  homeUrl: string;
  /** The solution whose label is being revised; null when working through the queue. */
  revise: number | null;
  /** Why a reviewer sent the label back, and its place among all that were sent back; null if none did. */
  sentBack: { reason: string; place: number; of: number; nextUrl: string | null } | null;
  /** The page that lists all labels sent back. */
  sentBackUrl: string;
  /** Whether this is practice, where every answer is explained. */
  practice: boolean;
  labelUrl: string;
  /** Null without practice. */
  practiceUrl: string | null;
  /** The page that explains the person's screening; null without one. */
  screeningUrl: string | null;
  labelsUrl: string;
  loginUrl: string;
  markUrl: string;
}

export function readConfig(): Config {
  const element = document.getElementById("workbench-config");
  if (!element?.textContent) throw new Error("The page lacks #workbench-config.");
  return JSON.parse(element.textContent) as Config;
}

/** Signing in again in another tab changes the token; the cookie has the new one. */
export function currentCsrfToken(config: Config): string {
  return /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? config.csrfToken;
}
