import { useLayoutEffect } from "preact/hooks";
import type { Span } from "../api/types";
import { light } from "../reading/highlights";
import { RichText } from "../reading/RichText";
import { placeOf, quoted } from "../state/spans";
import { text } from "../text";
import { LONGEST_TEXT } from "../vocabulary";
import { AtError, Dimensions } from "./Questions";
import { Field } from "./controls";
import { backToStep } from "./keyboard";
import type { RowProps } from "./row_props";
import { useScheme } from "./scheme";
import { TermChips } from "./TermChips";

const LONGEST_QUOTE = 120;

type Props = RowProps & { label: string };

/** The dimensions of a step, and where they are edited. */
export function StepNotes(props: Props) {
  const { step, label, mark, current, commenting, act } = props;
  const { scheme, keyOf } = useScheme();
  const errorTypes = scheme?.error_types ?? [];
  const typed = mark.answer === "bad" && errorTypes.length > 0 && (current || mark.error_type !== "");
  return (
    <>
      {!current && mark.flagged && <span class="flagged">⚑ {text.solution.flagged}</span>}
      {typed && (
        <TermChips
          title={text.solution.errorType}
          keys={keyOf("error_type")}
          class="error-types"
          terms={errorTypes}
          chosen={[mark.error_type]}
          onChoose={(name) => act({ type: "error_type", step: step.id, value: name === mark.error_type ? "" : name })}
        />
      )}
      <SpanList {...props} />
      {commenting ? (
        <Field
          label={text.solution.comment}
          id={`comment-${step.id}`}
          rows={2}
          aria-label={`${text.solution.comment}: ${label}`}
          placeholder={text.solution.commentPlaceholder}
          value={mark.comment}
          onInput={(event) => act({ type: "step_comment", step: step.id, value: event.currentTarget.value })}
        />
      ) : (
        mark.comment && (
          <div class="comment">
            <RichText text={mark.comment} />
          </div>
        )
      )}
      <Dimensions {...props} />
      <AtError {...props} />
      <OwnStep {...props} />
    </>
  );
}

/** The person's own step: a correction of the wrong one, or a continuation. */
function OwnStep({ position, way, ownStep, act }: Props) {
  if (ownStep === null) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    const leaves = event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey));
    if (leaves && way !== null) act({ type: "onward" });
  };
  return (
    <Field
      label={way === null ? text.solution.ownStep : text.choosing.ownStep}
      about="own_step"
      id={`own-${position}`}
      rows={2}
      placeholder={text.solution.ownStepPlaceholder}
      value={ownStep}
      onInput={(event) => act({ type: "own_step", position, value: event.currentTarget.value })}
      onKeyDown={onKeyDown}
    >
      {/[$\\`]/.test(ownStep) && <RichText text={ownStep} />}
    </Field>
  );
}

/** The marks in a step's text: highlighted there, quoted here with their remarks. */
function SpanList(props: Props) {
  const { step, mark, label } = props;
  useLayoutEffect(() => light(step.id, mark.spans.map((span) => placeOf(step.text, span))), [step, mark.spans]);
  if (mark.spans.length === 0) return null;
  return (
    <ol class="spans" aria-label={text.spans.title(label)}>
      {mark.spans.map((span, index) => (
        <li key={`${span.start}-${span.end}`}>
          <q dir="auto">{clipped(quoted(step.text, span))}</q>
          {props.current ? (
            <SpanFields {...props} span={span} index={index} />
          ) : (
            <span>{[span.error_type, span.comment].filter(Boolean).join(": ")}</span>
          )}
        </li>
      ))}
    </ol>
  );
}

function SpanFields({ step, mark, act, span, index }: Props & { span: Span; index: number }) {
  const errorTypes = useScheme().scheme?.error_types ?? [];
  return (
    <>
      {mark.answer === "bad" && errorTypes.length > 0 && (
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
        onKeyDown={(event) => event.key === "Enter" && backToStep(event.currentTarget)}
      />
      <button
        type="button"
        class="quiet"
        aria-label={text.spans.remove}
        title={text.spans.remove}
        onClick={(event) => {
          backToStep(event.currentTarget);
          act({ type: "remove_span", step: step.id, index });
        }}
      >
        ✕
      </button>
    </>
  );
}

function clipped(quote: string): string {
  return quote.length > LONGEST_QUOTE ? `${quote.slice(0, LONGEST_QUOTE)}…` : quote;
}
