import type { Scheme } from "../api/types";
import { text } from "../text";
import { besideInWords } from "./dimensions_in_words";
import type { Mark } from "./model";
import type { Span } from "./spans";

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
