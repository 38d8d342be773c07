import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import type { StepKind } from "../api/types";
import { text as words } from "../text";
import { type Call, editOf, isMessage, isText, languageOf, partsOf } from "./calls";
import { Code } from "./Code";
import { editLines, isUnified } from "./diffs";
import { Drawn } from "./Drawn";
import { imagesIn } from "./images";
import { jsonLines, type Member, unquoted } from "./json";
import { RichText } from "./RichText";
import { linesIn, linesOf } from "./source";

/** Longer values get lines of their own. */
const SHORT = 80;

interface Props {
  text: string;
  kind: StepKind;
  /** Text up to this offset must be visible, however long it is. */
  unfoldTo?: number;
}

/**
 * Renders a completion by its kind: calls by tool and argument, outputs verbatim, changes line by line, prose typeset.
 */
export const StepText = memo(function StepText({ text, kind, unfoldTo }: Props) {
  if (text.trim() === "") return <span class="muted">{words.emptyStep}</span>;
  switch (kind) {
    case "tool_call":
      return <ToolCalls text={text} language={isMessage(text) ? "" : "bash"} unfoldTo={unfoldTo} />;
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

type OutputProps = Omit<Props, "kind"> & { language: string };

/** A tool's output: JSON indented, everything else line by line. */
function Output({ text, language, unfoldTo }: OutputProps) {
  const laidOut = useMemo(() => jsonLines({ text, from: 0 }), [text]);
  const lines = useMemo(() => laidOut ?? linesIn(text), [text, laidOut]);
  return <Code lines={lines} language={language} unfoldTo={unfoldTo} wrap={laidOut ? true : undefined} />;
}

/**
 * The tool calls of a step, with arguments and edits. A step without a call is code, since agents without named tools
 * write shell commands; a message is not coloured as one.
 */
function ToolCalls({ text, language, unfoldTo }: OutputProps) {
  const parts = useMemo(() => partsOf(text), [text]);
  const calls = parts.some((part) => part.type === "call");
  return (
    <div class="calls">
      {parts.map((part, index) => {
        if (part.type === "call") return <CallView key={index} call={part} unfoldTo={unfoldTo} />;
        return calls ? (
          <p key={index} class="said-before">
            <Drawn {...part.text} />
          </p>
        ) : (
          <Code key={index} lines={linesOf(part.text)} language={language} unfoldTo={unfoldTo} />
        );
      })}
    </div>
  );
}

function CallView({ call, unfoldTo }: { call: Call; unfoldTo?: number }) {
  const edit = editOf(call);
  const others = call.members.filter((member) => member !== edit?.before && member !== edit?.after);
  return (
    <section class="call" aria-label={words.reading.call(call.name.text)}>
      <p class="tool-name">
        <Drawn {...call.name} />
      </p>
      {call.argument && <Code lines={linesOf(call.argument)} unfoldTo={unfoldTo} wrap />}
      {others.length > 0 && (
        <dl>
          {others.map((member) => (
            <div key={member.name.from} class={isLong(member) ? "long" : ""}>
              <dt>
                <Drawn {...member.name} />
              </dt>
              <dd>
                <Argument call={call} member={member} unfoldTo={unfoldTo} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {edit && <Code lines={editLines(edit.before, edit.after)} unfoldTo={unfoldTo} />}
    </section>
  );
}

function isLong({ value }: Member): boolean {
  return value.text.length > SHORT || value.text.includes("\\n");
}

function Argument({ call, member, unfoldTo }: { call: Call; member: Member; unfoldTo?: number }) {
  const { value } = member;
  if (!isText(member)) {
    const laidOut = value.text.length > SHORT ? jsonLines(value) : null;
    return laidOut ? <Code lines={laidOut} unfoldTo={unfoldTo} wrap /> : <code><Drawn {...value} /></code>;
  }
  const plain = unquoted(value);
  if (!isLong(member)) return <code><Drawn {...plain} /></code>;
  return <Code lines={linesOf(plain)} language={languageOf(call, member)} unfoldTo={unfoldTo} wrap />;
}
