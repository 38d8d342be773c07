import type { Span } from "../api/types";

export type SpanAction =
  | { type: "mark_span"; step: number; start: number; end: number }
  | { type: "span_comment"; step: number; index: number; value: string }
  | { type: "span_error_type"; step: number; index: number; value: string }
  | { type: "remove_span"; step: number; index: number };

type Spans = readonly Span[];

/** The spans of a step after an action; the same array if nothing changes. */
export function reduceSpans(spans: Spans, action: SpanAction): Spans {
  switch (action.type) {
    case "mark_span": {
      const { start, end } = action;
      if (start >= end || indexOfSpan(spans, start, end) >= 0) return spans;
      return [...spans, { start, end, error_type: "", comment: "" }];
    }
    case "span_comment":
      return changed(spans, action.index, { comment: action.value });
    case "span_error_type":
      return changed(spans, action.index, { error_type: action.value });
    case "remove_span":
      return spans[action.index] ? spans.filter((_, index) => index !== action.index) : spans;
  }
}

function changed(spans: Spans, at: number, change: Partial<Span>): Spans {
  return spans[at] ? spans.map((span, index) => (index === at ? { ...span, ...change } : span)) : spans;
}

function indexOfSpan(spans: Spans, start: number, end: number): number {
  return spans.findIndex((span) => span.start === start && span.end === end);
}

/** Error types belong to a bad step and are removed with the rating. */
export function withoutErrorTypes(spans: Spans): Spans {
  return spans.some((span) => span.error_type) ? spans.map((span) => ({ ...span, error_type: "" })) : spans;
}

/** The index in a string after the last mark, 0 for none. */
export function furthest(spans: Spans, text: string): number {
  return spans.length === 0 ? 0 : indexOfCodePoint(text, Math.max(...spans.map((span) => span.end)));
}

/** The marked text: offsets count code points, while JavaScript's strings count UTF-16 units. */
export function quoted(text: string, { start, end }: Pick<Span, "start" | "end">): string {
  return Array.from(text).slice(start, end).join("");
}

/** Its position in the string. */
export function placeOf(text: string, { start, end }: Pick<Span, "start" | "end">): { from: number; to: number } {
  return { from: indexOfCodePoint(text, start), to: indexOfCodePoint(text, end) };
}

/** The number of code points before an index of a string. */
export function codePointsTo(text: string, index: number): number {
  return Array.from(text.slice(0, index)).length;
}

/** The string index of the n-th code point. */
export function indexOfCodePoint(text: string, n: number): number {
  return Array.from(text).slice(0, n).join("").length;
}
