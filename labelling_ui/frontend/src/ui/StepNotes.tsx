import type { Term } from "../api/types";
import { text } from "../text";
import { OwnStep } from "./OwnStep";
import { SpanList } from "./SpanList";
import type { RowProps } from "./StepRow";

type Props = RowProps & { label: string };

/** What was added to a step besides its rating, and where it is added. */
export function StepNotes(props: Props) {
  const { step, mark, current, commenting, errorTypes, act } = props;
  const typed = mark.answer === "bad" && errorTypes.length > 0 && (current || mark.errorType !== "");
  return (
    <>
      {!current && mark.flagged && <span class="flagged">⚑ {text.solution.flagged}</span>}
      {typed && (
        <ErrorTypes
          types={errorTypes}
          value={mark.errorType}
          onChoose={(value) => act({ type: "error_type", step: step.id, value })}
        />
      )}
      <SpanList {...props} />
      {commenting ? <CommentBox {...props} /> : mark.comment && <p class="comment">{mark.comment}</p>}
      <OwnStep {...props} />
    </>
  );
}

function CommentBox({ step, mark, label, act }: Props) {
  return (
    <label class="field">
      <span>{text.solution.comment}</span>
      <textarea
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

/** One of the project's types of error. `t` goes to the first; digits and arrows choose. */
function ErrorTypes({ types, value, onChoose }: { types: Term[]; value: string; onChoose: (value: string) => void }) {
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const buttons = [...event.currentTarget.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const digit = types[Number(event.key) - 1]?.name;
    if (step) buttons[(at + step + buttons.length) % buttons.length]?.focus();
    else if (digit !== undefined) choose(digit, event.currentTarget);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const choose = (type: string, from: HTMLElement) => {
    onChoose(type === value ? "" : type);
    from.closest<HTMLElement>(".step")?.focus({ preventScroll: true });
  };
  return (
    <div class="error-types" role="group" aria-label={text.solution.errorType} onKeyDown={onKeyDown}>
      <span>
        {text.solution.errorType} <kbd aria-hidden="true">t</kbd>
      </span>
      {types.map(({ name, help }, index) => (
        <button
          key={name}
          type="button"
          class="chip"
          title={help || undefined}
          aria-pressed={name === value}
          onClick={(event) => choose(name, event.currentTarget)}
        >
          <kbd aria-hidden="true">{index + 1}</kbd> {name}
        </button>
      ))}
    </div>
  );
}
