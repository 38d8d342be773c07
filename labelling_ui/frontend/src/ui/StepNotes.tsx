import { RichText } from "../reading/RichText";
import { text } from "../text";
import { AtError } from "./AtError";
import { Dimensions } from "./Dimensions";
import type { RowProps } from "./row_props";
import { Field } from "./controls";
import { useScheme } from "./scheme";
import { SpanList } from "./SpanList";
import { TermChips } from "./TermChips";

type Props = RowProps & { label: string };

/** What was added to a step besides its rating, and where it is added. */
export function StepNotes(props: Props) {
  const { step, label, mark, current, commenting, errorTypes, act } = props;
  const { keyOf } = useScheme();
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
        mark.comment && <p class="comment">{mark.comment}</p>
      )}
      <Dimensions {...props} />
      <AtError {...props} />
      <OwnStep {...props} />
    </>
  );
}

/** A step in the person's own words: what the wrong one should have said, or a way on of their own. */
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
