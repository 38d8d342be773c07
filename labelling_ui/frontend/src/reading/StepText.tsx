import type { StepKind } from "../api/types";
import { Monospace, RichText } from "./RichText";

/** A completion as its kind reads best: what programs said in monospace, everything else typeset. */
export function StepText({ text, kind }: { text: string; kind: StepKind }) {
  if (kind === "observation" || kind === "tool_call") return <Monospace text={text} />;
  if (kind === "edit") return <Monospace text={text} diff />;
  return <RichText text={text} />;
}
