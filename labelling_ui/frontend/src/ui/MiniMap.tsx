import type { RefObject } from "preact";
import { memo } from "preact/compat";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { whenIdle } from "../reading/idle";
import { onNear } from "../reading/near";
import type { Hit } from "../reading/search";
import { rows } from "../state/derived";
import { markOf, type Action, type Mark, type State } from "../state/model";
import { text } from "../text";
import type { RowProps } from "./row_props";
import { useScheme } from "./scheme";
import { Sign } from "./Rating";

/** From this number of steps on, squares no longer fit: signs become bars of different heights. */
const LONG = 60;

interface Props {
  state: State;
  hits: readonly Hit[];
  act: (action: Action) => void;
}

/** The whole solution at a glance, one square per step. The squares are for the mouse; the keyboard has j and k. */
export function MiniMap({ state, hits, act }: Props) {
  const shown = rows(state);
  const found = useMemo(() => new Set(hits.map((hit) => hit.step)), [hits]);
  const map = useRef<HTMLElement>(null);
  useInView(map);
  return (
    <nav ref={map} class={shown.length > LONG ? "map long" : "map"} aria-label={text.solution.map}>
      {shown.map(({ step, position, main, reached }) => {
        const { answer, flagged } = markOf(state.work, step.id);
        return (
          <Square
            key={step.id}
            step={step.id}
            position={position}
            main={main}
            reached={reached}
            answer={answer}
            flagged={flagged}
            found={found.has(step.id)}
            current={state.cursor === step.id}
            act={act}
          />
        );
      })}
    </nav>
  );
}

interface SquareProps extends Pick<RowProps, "position" | "main" | "reached" | "current" | "act">, Pick<Mark, "answer" | "flagged"> {
  step: number;
  found: boolean;
}

const Square = memo(function Square({ step, position, main, reached, answer, flagged, found, current, act }: SquareProps) {
  const { nameOf } = useScheme();
  const said = reached ? (answer ? nameOf(answer) : text.solution.unrated) : text.solution.notReached;
  const about = text.solution.mapStep(position + 1, said);
  const classes = [reached ? (answer ?? "open") : "unreached", !main && "other", flagged && "flag", found && "found"];
  return (
    <button
      type="button"
      tabIndex={-1}
      class={classes.filter(Boolean).join(" ")}
      data-map-of={step}
      aria-current={current ? "step" : undefined}
      aria-label={about}
      title={about}
      onClick={() => act({ type: "go", step })}
    >
      {reached && answer && <Sign answer={answer} />}
    </button>
  );
});

/** Marks the squares of visible steps when idle, since the map would otherwise be painted in every frame. */
function useInView(map: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const turned = new Map<Element, boolean>();
    let callOff = () => {};
    const mark = () => {
      for (const [step, inView] of turned) {
        const square = map.current?.querySelector(`[data-map-of="${step.id.replace("step-", "")}"]`);
        square?.toggleAttribute("data-in-view", inView);
      }
      turned.clear();
    };
    const turn = (step: Element, inView: boolean) => {
      if (turned.size === 0) callOff = whenIdle(mark);
      turned.set(step, inView);
    };
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) turn(target, isIntersecting);
    });
    const stop = onNear(
      (step) => observer.observe(step),
      (step) => {
        observer.unobserve(step);
        turn(step, false);
      },
    );
    return () => {
      stop();
      callOff();
      observer.disconnect();
    };
  }, [map]);
}
