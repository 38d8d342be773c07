import { useLayoutEffect } from "preact/hooks";
import type { Span } from "../api/types";
import { light } from "../reading/highlights";
import { placeOf, quoted } from "../state/spans";
import { text } from "../text";
import type { RowProps } from "./row_props";
import { LONGEST_TEXT } from "../vocabulary";

const LONGEST_QUOTE = 120;

type Props = Pick<RowProps, "step" | "mark" | "current" | "errorTypes" | "act"> & { label: string };

/** What is marked in a step's text: lit up there, quoted here with what was said of it. */
export function SpanList(props: Props) {
  const { step, mark, label } = props;
  useLayoutEffect(() => light(step.id, mark.spans.map((span) => placeOf(step.text, span))), [step, mark.spans]);
  if (mark.spans.length === 0) return null;
  return (
    <ol class="spans" aria-label={text.spans.title(label)}>
      {mark.spans.map((span, index) => (
        <li key={`${span.start}-${span.end}`}>
          <q dir="auto">{clipped(quoted(step.text, span))}</q>
          {props.current ? <SpanFields {...props} span={span} index={index} /> : <Said span={span} />}
        </li>
      ))}
    </ol>
  );
}

function SpanFields({ step, mark, errorTypes, act, span, index }: Props & { span: Span; index: number }) {
  const typed = mark.answer === "bad" && errorTypes.length > 0;
  return (
    <>
      {typed && (
        <select
          aria-label={text.solution.errorType}
          value={span.error_type}
          onChange={({ currentTarget: { value } }) => act({ type: "span_error_type", step: step.id, index, value })}
        >
          <option value="">{text.spans.noType}</option>
          {errorTypes.map((type) => (
            <option key={type.name}>{type.name}</option>
          ))}
        </select>
      )}
      <input
        id={`span-${step.id}-${span.start}-${span.end}`}
        value={span.comment}
        maxLength={LONGEST_TEXT}
        placeholder={text.spans.placeholder}
        aria-label={text.spans.comment(clipped(quoted(step.text, span)))}
        onInput={({ currentTarget: { value } }) => act({ type: "span_comment", step: step.id, index, value })}
        onKeyDown={(event) => event.key === "Enter" && event.currentTarget.closest<HTMLElement>(".step")?.focus()}
      />
      <button
        type="button"
        class="quiet"
        aria-label={text.spans.remove}
        title={text.spans.remove}
        onClick={(event) => {
          const row = event.currentTarget.closest<HTMLElement>(".step");
          act({ type: "remove_span", step: step.id, index });
          row?.focus({ preventScroll: true });
        }}
      >
        ✕
      </button>
    </>
  );
}

function Said({ span }: { span: Span }) {
  return <span>{[span.error_type, span.comment].filter(Boolean).join(": ")}</span>;
}

function clipped(quote: string): string {
  return quote.length > LONGEST_QUOTE ? `${quote.slice(0, LONGEST_QUOTE)}…` : quote;
}
