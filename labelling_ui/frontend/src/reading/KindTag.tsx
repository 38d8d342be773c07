import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { StepKind } from "../api/types";
import { text } from "../text";

const PATHS: Record<StepKind, string> = {
  reasoning: "M2.5 3h11v8H7.5L4.5 13.5V11h-2Z",
  plan: "M3 4h1.5M3 8h1.5M3 12h1.5M7 4h6M7 8h6M7 12h6",
  tool_call: "M3 4l4 4-4 4M8.5 12H13",
  observation: "M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  edit: "M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3 3 13Z",
  answer: "M3.5 14V2.5h8L9.8 5.6l1.7 3.2h-8",
};

/** Whether the solution is an agent's run, where reasoning is a message among actions. */
export const InRun = createContext(false);

export function isRun(kinds: StepKind[]): boolean {
  return kinds.some((kind) => kind !== "reasoning" && kind !== "answer");
}

/** The kind of a step, as an icon and a word; outside an agent's run, reasoning needs none. */
export function KindTag({ kind }: { kind: StepKind }) {
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
