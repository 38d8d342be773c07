import type { ComponentProps } from "preact";
import { text } from "../text";
import { KeyButton } from "./controls";
import type { RowProps } from "./row_props";
import { useScheme } from "./scheme";

/** What can be done with the current step besides rating it. */
export function StepTools({ step, main, way, taken, mark, commenting, mayAsk, act, onComment, onMark, onFirstError }: RowProps) {
  const { scheme } = useScheme();
  return (
    <div class="tools">
      {way !== null && (
        <Tool about="choose" aria-pressed={taken} title={text.choosing.takeHelp} onClick={() => act({ type: "choose", step: step.id })}>
          {text.choosing.take}
        </Tool>
      )}
      {way === null && main && scheme?.offer_accepting && (
        <Tool about="first_error" title={text.solution.firstErrorHelp} onClick={() => onFirstError(step.id)}>
          {text.solution.firstError}
        </Tool>
      )}
      <Tool about="comment" aria-pressed={commenting} onClick={() => onComment(commenting ? null : step.id)}>
        {text.solution.comment}
      </Tool>
      <Tool about="mark" title={text.spans.markHelp} onClick={onMark}>
        {text.spans.mark}
      </Tool>
      <Tool about="flag" aria-pressed={mark.flagged} onClick={() => act({ type: "flag", step: step.id })}>
        {mark.flagged ? text.solution.flagged : text.solution.flag}
      </Tool>
      {mayAsk && (
        <Tool about="hint" title={text.hint.help} onClick={() => act({ type: "hint", step: step.id })}>
          {text.hint.ask}
        </Tool>
      )}
    </div>
  );
}

function Tool(props: ComponentProps<typeof KeyButton>) {
  return <KeyButton class="tool" {...props} />;
}
