import { RichText } from "../reading/RichText";
import { text } from "../text";
import type { RowProps } from "./StepRow";

/** What can be added to a step besides its rating; on a step that is not current, only what was added. */
export function StepTools({ step, position, main, mark, current, commenting, errorTypes, ownStep, act, onComment, label }: RowProps & { label: string }) {
  const typed = mark.answer === "bad" && errorTypes.length > 0 && (current || mark.errorType !== "");
  return (
    <>
      {current && (
        <div class="tools">
          {main && (
            <ToolButton keys="e" title={text.solution.firstErrorHelp} onClick={() => act({ type: "first_error", step: step.id })}>
              {text.solution.firstError}
            </ToolButton>
          )}
          <ToolButton keys="c" pressed={commenting} onClick={() => onComment(commenting ? null : step.id)}>
            {text.solution.comment}
          </ToolButton>
          <ToolButton keys="f" pressed={mark.flagged} onClick={() => act({ type: "flag", step: step.id })}>
            {mark.flagged ? text.solution.flagged : text.solution.flag}
          </ToolButton>
        </div>
      )}
      {!current && mark.flagged && <span class="flagged">⚑ {text.solution.flagged}</span>}
      {typed && (
        <ErrorTypes
          types={errorTypes}
          value={mark.errorType}
          onChoose={(value) => act({ type: "error_type", step: step.id, value })}
        />
      )}
      {commenting ? (
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
      ) : (
        mark.comment && <p class="comment">{mark.comment}</p>
      )}
      {ownStep !== null && (
        <label class="field">
          <span>{text.solution.ownStep}</span>
          <textarea
            id={`own-${position}`}
            rows={2}
            placeholder={text.solution.ownStepPlaceholder}
            value={ownStep}
            onInput={(event) => act({ type: "own_step", position, value: event.currentTarget.value })}
          />
          {/[$\\`]/.test(ownStep) && <RichText text={ownStep} />}
        </label>
      )}
    </>
  );
}

interface ToolProps {
  keys: string;
  children: string;
  title?: string;
  pressed?: boolean;
  onClick: () => void;
}

function ToolButton({ keys, children, title, pressed, onClick }: ToolProps) {
  return (
    <button
      type="button"
      class="tool"
      title={title}
      aria-pressed={pressed}
      aria-keyshortcuts={keys}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onClick}
    >
      {children} <kbd aria-hidden="true">{keys}</kbd>
    </button>
  );
}

/** One of the project's types of error. `t` goes to the first; digits and arrows choose. */
function ErrorTypes({ types, value, onChoose }: { types: string[]; value: string; onChoose: (value: string) => void }) {
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const buttons = [...event.currentTarget.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const digit = types[Number(event.key) - 1];
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
      {types.map((type, index) => (
        <button
          key={type}
          type="button"
          class="chip"
          aria-pressed={type === value}
          onClick={(event) => choose(type, event.currentTarget)}
        >
          <kbd aria-hidden="true">{index + 1}</kbd> {type}
        </button>
      ))}
    </div>
  );
}
