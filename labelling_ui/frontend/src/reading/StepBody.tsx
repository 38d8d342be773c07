import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo, useRef } from "preact/hooks";
import type { Step, StepPosition } from "../api/types";
import { Drawn } from "./Drawn";
import { InRun, isRun, KindTag } from "./KindTag";
import { useNear, useTellDrawn } from "./near";
import { StepText } from "./StepText";

/** A step's text up to an offset. */
export interface Stretch {
  step: number;
  to: number;
}

const Revealed = createContext<Stretch | null>(null);

interface ReadingProps {
  steps: readonly StepPosition[];
  /** What has to be seen, even where it would be folded. */
  revealed: Stretch | null;
  children: ComponentChildren;
}

/** What the steps within are read as: those of this solution. */
export function Reading({ steps, revealed, children }: ReadingProps) {
  const run = useMemo(() => isRun(steps.flatMap((entry) => entry.alternatives.map((step) => step.kind))), [steps]);
  return (
    <InRun.Provider value={run}>
      <Revealed.Provider value={revealed}>{children}</Revealed.Provider>
    </InRun.Provider>
  );
}

const FAR_CHARS = 1_000;

/**
 * What a step is and says; far from the screen its text stands in for it as it was written. `wanted` draws it in any
 * case, and up to `seenTo` it is never folded. Whoever has to find a step's text on the page asks for `textElement`.
 */
export function StepBody({ step, wanted, seenTo }: { step: Step; wanted: boolean; seenTo: number }) {
  const revealed = useContext(Revealed);
  const element = useRef<HTMLDivElement>(null);
  const sought = revealed?.step === step.id ? revealed.to : undefined;
  const drawn = useNear(element) || wanted || sought !== undefined;
  useTellDrawn(drawn);
  return (
    <>
      <KindTag kind={step.kind} />
      <div ref={element} class="text" id={`text-${step.id}`} data-text-of={step.id}>
        {drawn ? (
          <StepText text={step.text} kind={step.kind} unfoldTo={Math.max(seenTo, sought ?? 0)} />
        ) : (
          <Drawn class="far" text={step.text.slice(0, FAR_CHARS)} from={0} />
        )}
      </div>
    </>
  );
}

export function textElement(step: number): HTMLElement | null {
  return document.getElementById(`text-${step}`);
}
