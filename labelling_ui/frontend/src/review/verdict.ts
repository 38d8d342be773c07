import type { Word } from "./keys";

/** The ratings of a path, in order; null if unrated. */
export type Verdict = readonly (Word | null)[];

/** The verdict with the first error at `place`: unrated and bad steps before it become good. */
export function withFirstError(verdict: Verdict, place: number): Verdict {
  return verdict.map((word, n) => (n === place ? "-1" : n < place && (word === null || word === "-1") ? "1" : word));
}

/** The place after `place` was rated: the next unrated one, else the next. */
export function following(verdict: Verdict, place: number, stops: boolean): number {
  const error = verdict.indexOf("-1");
  const end = stops && error >= 0 ? error : verdict.length - 1;
  for (let n = place + 1; n <= end; n += 1) if (verdict[n] === null) return n;
  return place;
}

/** Whether every step that the scheme requires is rated. */
export function isWhole(verdict: Verdict, stops: boolean): boolean {
  const error = verdict.indexOf("-1");
  const asked = stops && error >= 0 ? verdict.slice(0, error + 1) : verdict;
  return asked.every((word) => word !== null);
}
