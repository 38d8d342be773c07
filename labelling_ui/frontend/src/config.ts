import type { Example } from "./api/types";

/** What the page tells the island, as JSON in `#workbench-config`. */
export interface Config {
  project: { slug: string; name: string };
  csrfToken: string;
  apiRoot: string;
  /** Text in the same light markup as steps; never HTML. */
  guidelines: string;
  examples: Example[];
  user: { name: string };
  /** How long a solution stays the person's after such a sign. */
  leaseMinutes: number;
  /** After how much work a break is proposed, 0 for never, and how many solutions are a sitting's goal at first. */
  pace: { idleSeconds: number; breakAfterMinutes: number; goal: number };
  /** How many solutions are fetched beside the one on the screen. */
  prefetchDepth: number;
  /** How often the page says that the solutions in hand are still wanted. */
  heartbeatSeconds: number;
  homeUrl: string;
  /** The solution whose label is opened to be changed; null where the queue is worked through. */
  revise: number | null;
  /** Why a reviewer sent that label back, and where it stands among all that came back; null where none did. */
  sentBack: { reason: string; place: number; of: number; nextUrl: string | null } | null;
  /** Where all that came back is listed. */
  sentBackUrl: string;
  /** The practice set is worked through, and every answer explained. */
  practice: boolean;
  labelUrl: string;
  /** Null where there is nothing to practise on. */
  practiceUrl: string | null;
  /** Where one's screening is explained; null where nobody is told. */
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
