import { createContext } from "preact";
import { useContext, useRef } from "preact/hooks";
import type { Step } from "../api/types";
import { Drawn } from "./Drawn";
import { KindTag } from "./KindTag";
import { useNear, useTellDrawn } from "./near";
import { StepText } from "./StepText";

/** What of the solution has to be seen, even where it would be folded: a step's text up to an offset. */
export const Revealed = createContext<{ step: number; to: number } | null>(null);

const FAR_CHARS = 1_000;

/**
 * What a step is and says; far from the screen its text stands in for it as it was written. `wanted` draws it in any
 * case, and up to `seenTo` it is never folded. Whoever has to find its text on the page looks for `data-text-of`
 * (places.ts).
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
      <div ref={element} class="text" data-text-of={step.id}>
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
  return document.querySelector(`[data-text-of="${step}"]`);
}
