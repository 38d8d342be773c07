import type { Scheme } from "../api/types";
import { text } from "../text";
import { ANSWER_OF } from "../vocabulary";
import type { Beside } from "./dimensions";
import type { Mark } from "./model";
import type { Span } from "./spans";

/** What is said of a step beside its rating, a phrase each. */
export function besideInWords(beside: Beside): string[] {
  const { clauses, consistent, consistentWith, redundant, recovers, critique, critiqueRatings } = beside;
  const contradicts = consistent === false && consistentWith !== null;
  const rated = Object.entries(critiqueRatings);
  return [
    ...(clauses.length > 0 ? [text.beside.breaks(clauses.join(", "))] : []),
    ...(contradicts ? [text.beside.contradictsStep(consistentWith + 1)] : []),
    ...(consistent ? [text.beside.consistent] : []),
    ...(redundant ? [text.beside.redundant] : []),
    ...(recovers ? [text.beside.recovers] : []),
    ...(critique.trim() ? [`“${critique.trim()}”`] : []),
    ...rated.map(([number, rating]) => `${text.atError.critique(Number(number) + 1)}: ${text.answers[ANSWER_OF[rating]]}`),
  ];
}

/** What is said of a step, a phrase each; the answer by the project's own name where its scheme is given. */
export function markInWords(mark: Mark, scheme: Scheme | null = null): string[] {
  const { answer, errorType, flagged, comment, spans, beside } = mark;
  return [
    ...(answer ? [scheme?.answers[answer].name || text.answers[answer]] : []),
    errorType,
    flagged ? text.solution.flagged.toLowerCase() : "",
    comment && `“${comment}”`,
    ...spans.map(spanInWords),
    ...besideInWords(beside),
  ].filter(Boolean);
}

export function spanInWords({ start, end, errorType, comment }: Span): string {
  return [text.versions.marked(start + 1, end), errorType, comment && `“${comment}”`].filter(Boolean).join(" ");
}
