import type { ComponentProps } from "preact";
import { memo } from "preact/compat";
import { Known } from "../practice/Explanation";
import { endOf } from "../reading/sight";
import { StepBody } from "../reading/StepBody";
import { furthest } from "../state/spans";
import { text } from "../text";
import { KeyButton } from "./controls";
import { placeOf } from "./keys";
import { HintBar, hintText, Rating, Sign } from "./Rating";
import type { RowProps } from "./row_props";
import { useScheme } from "./scheme";
import { StepNotes } from "./StepNotes";

export const StepRow = memo(function StepRow(props: RowProps) {
  const { step, position, main, reached, way, ways, taken, mark, current, score, act } = props;
  const { nameOf } = useScheme();
  const label = labelOf(props);
  const said = reached ? (mark.answer ? nameOf(mark.answer) : text.solution.unrated) : text.solution.notReached;
  const standing = [main ? "" : "other", reached ? "" : "unreached", way && ways > 1 ? "candidate" : "", taken ? "taken" : ""];
  const classes = ["step", step.kind, ...standing, current ? "current" : ""];
  return (
    <li
      id={`step-${step.id}`}
      class={classes.filter(Boolean).join(" ")}
      data-answer={reached ? (mark.answer ?? "") : ""}
      tabIndex={current ? 0 : -1}
      aria-current={current ? "step" : undefined}
      aria-describedby={current ? `text-${step.id}` : undefined}
      aria-label={[`${label}: ${said}`, hintText(score)].filter(Boolean).join(". ")}
      onClick={(event) => current || placeOf(event.target) !== "page" || act({ type: "go", step: step.id })}
    >
      <span class="number" aria-hidden="true">
        {main ? position + 1 : way ? "○" : "↳"}
      </span>
      <span class="said">{reached && (mark.answer ? <Sign answer={mark.answer} /> : <span class="dot" aria-hidden="true" />)}</span>
      <div class="body">
        <StepBody step={step} wanted={current} seenTo={furthest(mark.spans, step.text)} />
        <div id={endOf(step.id)} class="step-end" />
        {score !== null && <HintBar score={score} />}
        <Known step={step.id} />
        {reached && (
          <>
            <Rating
              size={current ? "named" : "small"}
              label={label}
              value={mark.answer}
              onRate={(answer) => act({ type: "rate", step: step.id, answer })}
            />
            <StepNotes {...props} label={label} />
            {current && <StepTools {...props} />}
          </>
        )}
      </div>
    </li>
  );
});

function labelOf({ position, main, way, ways, taken }: RowProps): string {
  if (way === null || ways === 1) return main ? text.step(position + 1) : text.otherCompletion(position + 1);
  const label = text.choosing.candidate(position + 1, way, ways);
  return taken ? text.choosing.taken(label) : label;
}

/** The tools of the current step besides its rating. */
function StepTools({ step, main, way, taken, mark, commenting, mayAsk, act, onComment, onMark, onFirstError }: RowProps) {
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
