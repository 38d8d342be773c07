import { text } from "../text";
import { AtError } from "./AtError";
import { Beside } from "./Beside";
import { OwnStep } from "./OwnStep";
import { useScheme } from "./scheme";
import { SpanList } from "./SpanList";
import type { RowProps } from "./row_props";
import { TermChips } from "./TermChips";
import { Written } from "./Written";

type Props = RowProps & { label: string };

/** What was added to a step besides its rating, and where it is added. */
export function StepNotes(props: Props) {
  const { step, mark, current, commenting, errorTypes, act } = props;
  const { keyOf } = useScheme();
  const typed = mark.answer === "bad" && errorTypes.length > 0 && (current || mark.errorType !== "");
  return (
    <>
      {!current && mark.flagged && <span class="flagged">⚑ {text.solution.flagged}</span>}
      {typed && (
        <TermChips
          title={text.solution.errorType}
          keys={keyOf("error_type")}
          class="error-types"
          terms={errorTypes}
          chosen={[mark.errorType]}
          onChoose={(name) => act({ type: "error_type", step: step.id, value: name === mark.errorType ? "" : name })}
        />
      )}
      <SpanList {...props} />
      {commenting ? <CommentBox {...props} /> : mark.comment && <p class="comment">{mark.comment}</p>}
      <Beside {...props} />
      <AtError {...props} />
      <OwnStep {...props} />
    </>
  );
}

function CommentBox({ step, mark, label, act }: Props) {
  return (
    <label class="field">
      <span>{text.solution.comment}</span>
      <Written
        id={`comment-${step.id}`}
        rows={2}
        aria-label={`${text.solution.comment}: ${label}`}
        placeholder={text.solution.commentPlaceholder}
        value={mark.comment}
        onInput={(event) => act({ type: "step_comment", step: step.id, value: event.currentTarget.value })}
      />
    </label>
  );
}
