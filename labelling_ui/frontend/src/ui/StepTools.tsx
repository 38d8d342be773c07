import { text } from "../text";
import { useScheme } from "./scheme";
import type { RowProps } from "./row_props";

/** What can be done with the current step besides rating it. */
export function StepTools({ step, main, way, taken, mark, commenting, mayAsk, act, onComment, onMark, onFirstError }: RowProps) {
  const { scheme, keyOf } = useScheme();
  return (
    <div class="tools">
      {way !== null && (
        <ToolButton keys={keyOf("choose")} pressed={taken} title={text.choosing.takeHelp} onClick={() => act({ type: "choose", step: step.id })}>
          {text.choosing.take}
        </ToolButton>
      )}
      {way === null && main && scheme?.offer_accepting && (
        <ToolButton
          keys={keyOf("first_error")}
          title={text.solution.firstErrorHelp}
          onClick={() => onFirstError(step.id)}
        >
          {text.solution.firstError}
        </ToolButton>
      )}
      <ToolButton keys={keyOf("comment")} pressed={commenting} onClick={() => onComment(commenting ? null : step.id)}>
        {text.solution.comment}
      </ToolButton>
      <ToolButton keys={keyOf("mark")} title={text.spans.markHelp} onClick={onMark}>
        {text.spans.mark}
      </ToolButton>
      <ToolButton keys={keyOf("flag")} pressed={mark.flagged} onClick={() => act({ type: "flag", step: step.id })}>
        {mark.flagged ? text.solution.flagged : text.solution.flag}
      </ToolButton>
      {mayAsk && (
        <ToolButton keys={keyOf("hint")} title={text.hint.help} onClick={() => act({ type: "hint", step: step.id })}>
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
