import { firstErrorIndex, ownStepsAt, rows } from "../state/derived";
import { mayAskScore, scoreInSight } from "../state/hints";
import { type Action, markOf, type Row, type State } from "../state/model";
import { text } from "../text";
import { StepRow } from "./StepRow";

interface Props {
  state: State;
  upTo: number;
  commenting: number | null;
  act: (action: Action) => void;
  onComment: (step: number | null) => void;
  onMark: () => void;
  onFirstError: (step: number) => void;
}

export function Solution({ state, upTo, commenting, ...hands }: Props) {
  const shown = rows(state);
  const ownAt = ownStepsAt(state);
  // A step of the person's own stands below what was given at its position.
  const holdsOwnStep = ({ position, candidate, main }: Row) =>
    ownAt.includes(position) && (candidate ? candidate.number === candidate.of : main);
  const errorAt = state.steps[firstErrorIndex(state)]?.position ?? Infinity;
  return (
    <ol class="steps" aria-label={text.solution.title}>
      {shown.slice(0, upTo).map((row) => (
        <StepRow
          key={row.step.id}
          step={row.step}
          position={row.position}
          main={row.main}
          reached={row.reached}
          way={row.candidate?.number ?? null}
          ways={row.candidate?.of ?? 1}
          taken={row.candidate?.taken ?? false}
          mark={markOf(state.work, row.step.id)}
          current={state.cursor === row.step.id}
          commenting={commenting === row.step.id}
          errorTypes={state.scheme.error_types}
          steps={state.steps}
          atError={row.main && row.position === errorAt}
          progress={row.main && row.position === errorAt ? state.work.progress : null}
          behindError={row.position > errorAt}
          ownStep={holdsOwnStep(row) ? (state.work.ownSteps[row.position] ?? "") : null}
          score={row.main && !row.candidate ? scoreInSight(state, row.position) : null}
          mayAsk={!row.candidate && state.cursor === row.step.id && mayAskScore(state, row.step.id)}
          {...hands}
        />
      ))}
    </ol>
  );
}
