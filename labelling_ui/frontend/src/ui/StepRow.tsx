import { memo } from "preact/compat";
import { Known } from "../practice/Explanation";
import { endOf } from "../reading/sight";
import { StepBody } from "../reading/StepBody";
import { furthest } from "../state/spans";
import { text } from "../text";
import { HintBar, hintSaid } from "./HintBar";
import { placeOf } from "./keys";
import { Rating, Sign } from "./Rating";
import type { RowProps } from "./row_props";
import { useScheme } from "./scheme";
import { StepNotes } from "./StepNotes";
import { StepTools } from "./StepTools";

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
      aria-label={[`${label}: ${said}`, hintSaid(score)].filter(Boolean).join(". ")}
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
