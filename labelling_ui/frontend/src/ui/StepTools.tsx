import { text } from "../text";
import type { RowProps } from "./StepRow";

/** What can be done with the current step besides rating it. */
export function StepTools({ step, main, way, taken, mark, commenting, mayAsk, act, onComment, onMark }: RowProps) {
  return (
    <div class="tools">
      {way !== null && (
        <ToolButton keys="x" pressed={taken} title={text.choosing.takeHelp} onClick={() => act({ type: "choose", step: step.id })}>
          {text.choosing.take}
        </ToolButton>
      )}
      {way === null && main && (
        <ToolButton
          keys="e"
          title={text.solution.firstErrorHelp}
          onClick={() => act({ type: "first_error", step: step.id })}
        >
          {text.solution.firstError}
        </ToolButton>
      )}
      <ToolButton keys="c" pressed={commenting} onClick={() => onComment(commenting ? null : step.id)}>
        {text.solution.comment}
      </ToolButton>
      <ToolButton keys="a" title={text.spans.markHelp} onClick={onMark}>
        {text.spans.mark}
      </ToolButton>
      <ToolButton keys="f" pressed={mark.flagged} onClick={() => act({ type: "flag", step: step.id })}>
        {mark.flagged ? text.solution.flagged : text.solution.flag}
      </ToolButton>
      {mayAsk && (
        <ToolButton keys="h" title={text.hint.help} onClick={() => act({ type: "hint", step: step.id })}>
          {text.hint.ask}
        </ToolButton>
      )}
    </div>
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
