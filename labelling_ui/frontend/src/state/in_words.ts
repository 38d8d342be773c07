import type { Scheme, Span } from "../api/types";
import { text } from "../text";
import { ANSWER_OF } from "../vocabulary";
import type { StepDimensions } from "./dimensions";
import type { Mark } from "./model";

/** The dimensions of a step, a phrase each. */
export function dimensionsInWords(dimensions: StepDimensions): string[] {
  const { clauses, consistent, consistent_with, redundant, recovers, critique, critique_ratings } = dimensions;
  const contradicts = consistent === false && consistent_with !== null;
  const rated = critique_ratings.flatMap((rating, number) => (rating === null ? [] : [{ rating, number }]));
  return [
    ...(clauses.length > 0 ? [text.dimensions.breaks(clauses.join(", "))] : []),
    ...(contradicts ? [text.dimensions.contradictsStep(consistent_with + 1)] : []),
    ...(consistent ? [text.dimensions.consistent] : []),
    ...(redundant ? [text.dimensions.redundant] : []),
    ...(recovers ? [text.dimensions.recovers] : []),
    ...(critique.trim() ? [`“${critique.trim()}”`] : []),
    ...rated.map(({ rating, number }) => `${text.atError.critique(number + 1)}: ${text.answers[ANSWER_OF[rating]]}`),
  ];
}

/** The rating and dimensions of a step, a phrase each; the answer in the project's own name if its scheme is given. */
export function markInWords(mark: Mark, scheme: Scheme | null = null): string[] {
  const { answer, error_type, flagged, comment, spans, dimensions } = mark;
  return [
    ...(answer ? [scheme?.answers[answer].name || text.answers[answer]] : []),
    error_type,
    flagged ? text.solution.flagged.toLowerCase() : "",
    comment && `“${comment}”`,
    ...spans.map(spanInWords),
    ...dimensionsInWords(dimensions),
  ].filter(Boolean);
}

export function spanInWords({ start, end, error_type, comment }: Span): string {
  return [text.versions.marked(start + 1, end), error_type, comment && `“${comment}”`].filter(Boolean).join(" ");
}
