import { ownStepPosition, rows } from "../state/derived";
import { scoreInSight, scoreOnRequest } from "../state/hints";
import { markOf, type Action, type State } from "../state/model";
import { text } from "../text";
import { StepRow } from "./StepRow";

interface Props {
  state: State;
  commenting: number | null;
  act: (action: Action) => void;
  onComment: (step: number | null) => void;
  onMark: () => void;
}

export function Solution({ state, commenting, act, onComment, onMark }: Props) {
  const ownAt = ownStepPosition(state);
  return (
    <ol class="steps" aria-label={text.solution.title}>
      {rows(state).map(({ step, position, main, reached }) => (
        <StepRow
          key={step.id}
          step={step}
          position={position}
          main={main}
          reached={reached}
          mark={markOf(state.work, step.id)}
          current={state.cursor === step.id}
          commenting={commenting === step.id}
          errorTypes={state.scheme.error_types}
          ownStep={main && position === ownAt ? (state.work.ownSteps[position] ?? "") : null}
          score={main ? scoreInSight(state, position) : null}
          mayAsk={state.cursor === step.id && scoreOnRequest(state, step.id) !== null}
          act={act}
          onComment={onComment}
          onMark={onMark}
        />
      ))}
    </ol>
  );
}
