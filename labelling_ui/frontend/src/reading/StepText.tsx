import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import type { StepKind } from "../api/types";
import { text as words } from "../text";
import { isUnified } from "./changes";
import { Code } from "./Code";
import { imagesIn } from "./images";
import { jsonLines } from "./json";
import { linesIn } from "./lines";
import { RichText } from "./RichText";
import { ToolCalls } from "./ToolCalls";

interface Props {
  text: string;
  kind: StepKind;
  /** Text up to this offset has to be seen, however long it is. */
  unfoldTo?: number;
}

/** A completion as its kind reads best: calls by tool and argument, outputs as they came, changes line by line, prose typeset. */
export const StepText = memo(function StepText({ text, kind, unfoldTo }: Props) {
  if (text.trim() === "") return <span class="muted">{words.emptyStep}</span>;
  switch (kind) {
    case "tool_call":
      return <ToolCalls text={text} language="bash" unfoldTo={unfoldTo} />;
    case "edit":
      if (isUnified(text)) return <Output text={text} language="diff" unfoldTo={unfoldTo} />;
      return <ToolCalls text={text} language="" unfoldTo={unfoldTo} />;
    case "observation":
      if (imagesIn(text).length > 0) return <RichText text={text} unfoldTo={unfoldTo} />;
      return <Output text={text} language={isUnified(text) ? "diff" : ""} unfoldTo={unfoldTo} />;
    default:
      return <RichText text={text} unfoldTo={unfoldTo} />;
  }
});

/** What came back: JSON laid out, everything else line by line. */
function Output({ text, language, unfoldTo }: { text: string; language: string; unfoldTo?: number }) {
  const laidOut = useMemo(() => jsonLines({ text, from: 0 }), [text]);
  const lines = useMemo(() => laidOut ?? linesIn(text), [text, laidOut]);
  return <Code lines={lines} language={language} unfoldTo={unfoldTo} wrap={laidOut ? true : undefined} />;
}
