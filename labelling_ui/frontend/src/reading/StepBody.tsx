import { type ComponentChildren, createContext } from "preact";
import { useContext, useMemo, useRef } from "preact/hooks";
import type { Step, StepKind, StepPosition } from "../api/types";
import { text } from "../text";
import { Drawn } from "./Drawn";
import { useNear, useNotifyDrawn } from "./near";
import { StepText } from "./StepText";

const PATHS: Record<StepKind, string> = {
  reasoning: "M2.5 3h11v8H7.5L4.5 13.5V11h-2Z",
  plan: "M3 4h1.5M3 8h1.5M3 12h1.5M7 4h6M7 8h6M7 12h6",
  tool_call: "M3 4l4 4-4 4M8.5 12H13",
  observation: "M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  edit: "M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3 3 13Z",
  answer: "M3.5 14V2.5h8L9.8 5.6l1.7 3.2h-8",
};

/** Whether the solution is an agent's run, whose reasoning is one kind of message among others. */
const InRun = createContext(false);

/** The kind of a step, as an icon and a word; outside an agent's run, reasoning has none. */
function KindTag({ kind }: { kind: StepKind }) {
  const inRun = useContext(InRun);
  if (kind === "reasoning" && !inRun) return null;
  return (
    <span class="kind">
      <svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true">
        <path d={PATHS[kind]} />
      </svg>
      {kind === "reasoning" ? text.reading.message : text.kinds[kind]}
    </span>
  );
}

/** A position in a step's text. */
export interface Stretch {
  step: number;
  to: number;
}

const Revealed = createContext<Stretch | null>(null);

interface ReadingProps {
  steps: readonly StepPosition[];
  /** A part that must be visible even if it would be folded. */
  revealed: Stretch | null;
  children: ComponentChildren;
}

/** How the steps inside are rendered, by their solution. */
export function Reading({ steps, revealed, children }: ReadingProps) {
  const isAction = ({ kind }: Step) => kind !== "reasoning" && kind !== "answer";
  const run = useMemo(() => steps.some(({ alternatives }) => alternatives.some(isAction)), [steps]);
  return (
    <InRun.Provider value={run}>
      <Revealed.Provider value={revealed}>{children}</Revealed.Provider>
    </InRun.Provider>
  );
}

const FAR_CHARS = 1_000;

/**
 * Renders a step. Far from the screen, its source stands in for it. `wanted` renders it in any case, and up to `seenTo`
 * it is never folded. `textElement` finds a step's text on the page.
 */
export function StepBody({ step, wanted, seenTo }: { step: Step; wanted: boolean; seenTo: number }) {
  const revealed = useContext(Revealed);
  const element = useRef<HTMLDivElement>(null);
  const sought = revealed?.step === step.id ? revealed.to : undefined;
  const drawn = useNear(element) || wanted || sought !== undefined;
  useNotifyDrawn(drawn);
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
