import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Step } from "../api/types";
import { KindTag } from "./KindTag";
import { StepText } from "./StepText";

/** What of the solution has to be seen, even where it would be folded: a step's text up to an offset. */
export const Revealed = createContext<{ step: number; to: number } | null>(null);

/** What a step is and says. Whoever has to find its text again looks for `data-text-of` (places.ts). */
export function StepBody({ step }: { step: Step }) {
  const revealed = useContext(Revealed);
  return (
    <>
      <KindTag kind={step.kind} />
      <div class="text" data-text-of={step.id}>
        <StepText text={step.text} kind={step.kind} unfoldTo={revealed?.step === step.id ? revealed.to : undefined} />
      </div>
    </>
  );
}

export function textElement(step: number): Element | null {
  return document.querySelector(`[data-text-of="${step}"]`);
}
