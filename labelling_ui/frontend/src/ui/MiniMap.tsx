import { rows } from "../state/derived";
import { markOf, type Action, type State } from "../state/model";
import { text } from "../text";
import { Sign } from "./signs";

/** The whole solution at a glance, one square a step. The keyboard has j and k; these squares are for the mouse. */
export function MiniMap({ state, act }: { state: State; act: (action: Action) => void }) {
  return (
    <nav class="map" aria-label={text.solution.map}>
      {rows(state).map(({ step, position, main, reached }) => {
        const { answer, flagged } = markOf(state.work, step.id);
        const said = reached ? (answer ? text.answers[answer] : text.solution.unrated) : text.solution.notReached;
        return (
          <button
            key={step.id}
            type="button"
            tabIndex={-1}
            class={[reached ? (answer ?? "open") : "unreached", main ? "" : "other", flagged ? "flag" : ""].join(" ")}
            aria-current={state.cursor === step.id ? "step" : undefined}
            aria-label={text.solution.mapStep(position + 1, said)}
            title={text.solution.mapStep(position + 1, said)}
            onClick={() => act({ type: "go", step: step.id })}
          >
            {reached && answer && <Sign answer={answer} />}
          </button>
        );
      })}
    </nav>
  );
}
