import { memo } from "preact/compat";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Task } from "../api/types";
import { whenIdle } from "../reading/idle";
import { watchSheet } from "../reading/near";
import { Reading, type Stretch } from "../reading/StepBody";
import { firstErrorIndex, ownStepsAt, rows } from "../state/derived";
import { mayAskScore, scoreInSight } from "../state/hints";
import { markOf, type Row, type State } from "../state/model";
import { stateAhead } from "../state/reducer";
import { text } from "../text";
import { lookOf, SchemeContext } from "./scheme";
import type { Hands } from "./row_props";
import { StepRow } from "./StepRow";

interface Props extends Hands {
  lease: number;
  state: State;
  next: Task | null;
  commenting: number | null;
  revealed: Stretch | null;
}

/**
 * The steps of the current solution. The next one is prepared behind it: while the person rests it is rendered and laid
 * out, hidden from the eye, screen readers, Tab and search. On its turn it is shown at once. The previous one is
 * removed later.
 */
export function Sheets({ lease, state, next, commenting, revealed, ...hands }: Props) {
  const rested = useRested(lease);
  const leaving = useRef({ lease, state });
  if (rested === lease) leaving.current = { lease, state };
  const upcoming = useMemo(() => next && { lease: next.lease.id, state: stateAhead(next) }, [next]);
  const shown = { lease, state };
  const sheets = rested === lease ? [shown, upcoming] : [leaving.current, shown];
  return sheets.map((sheet) => {
    if (!sheet) return null;
    const there = sheet === shown ? { shown: true, fresh: rested !== lease, commenting, revealed } : ELSEWHERE;
    return <Sheet key={sheet.lease} state={sheet.state} {...there} {...hands} />;
  });
}

const ELSEWHERE = { shown: false, fresh: false, commenting: null, revealed: null };

interface SheetProps extends Hands {
  state: State;
  shown: boolean;
  /** It was only just shown. */
  fresh: boolean;
  commenting: number | null;
  revealed: Stretch | null;
}

/** The prepared sheet is not redrawn with every key: nothing in it changes. */
const Sheet = memo(function Sheet({ state, shown, fresh, commenting, revealed, ...hands }: SheetProps) {
  const look = useMemo(() => lookOf(state.scheme), [state.scheme]);
  const sheet = useRef<HTMLDivElement>(null);
  const lines = rows(state);
  const drawn = useDrawnAhead(sheet, shown, lines.length);
  useEffect(() => (shown ? watchSheet(sheet.current!) : undefined), [shown]);
  // The first scroll lays out one screen, not the solution; if the work continues further down, the way there needs
  // layout.
  const glance = fresh && state.cursor === lines[0]?.step.id;
  return (
    <div ref={sheet} class={["sheet", shown && "shown", glance && "glance"].filter(Boolean).join(" ")}>
      <SchemeContext.Provider value={look}>
        <Reading steps={state.steps} revealed={revealed}>
          <Solution state={state} upTo={drawn} commenting={commenting} {...hands} />
        </Reading>
      </SchemeContext.Provider>
    </div>
  );
});

/** The solution on which the page has been idle since it was shown. */
function useRested(lease: number): number {
  const [rested, setRested] = useState(lease);
  useEffect(() => (rested === lease ? undefined : whenIdle(() => setRested(lease))), [rested, lease]);
  return rested;
}

const AT_ONCE = 2;

/** How many steps of a sheet are drawn: all once it is shown, until then a few more whenever the page is idle. */
function useDrawnAhead(sheet: { current: HTMLElement | null }, shown: boolean, steps: number): number {
  const [drawn, setDrawn] = useState(shown ? steps : 0);
  const ready = shown || drawn >= steps;
  useEffect(() => {
    // Measuring makes the browser lay out what it would otherwise skip.
    if (!shown) sheet.current!.querySelector(".step:last-child .text")?.getBoundingClientRect();
    return ready ? undefined : whenIdle(() => setDrawn(drawn + AT_ONCE));
  }, [shown, ready, drawn]);
  return shown ? Infinity : drawn;
}

interface SolutionProps extends Hands {
  state: State;
  upTo: number;
  commenting: number | null;
}

function Solution({ state, upTo, commenting, ...hands }: SolutionProps) {
  const shown = rows(state);
  const ownAt = ownStepsAt(state);
  // The person's own step is below the candidates of its position.
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
