import { useMemo } from "preact/hooks";
import { text as words } from "../text";
import { editOf, isText, languageOf, partsOf, type Call } from "./calls";
import { Code } from "./Code";
import { Drawn } from "./Drawn";
import { editLines } from "./edits";
import { jsonLines, unquoted, type Member } from "./json";
import { linesOf } from "./lines";

const SHORT = 80;

interface Props {
  text: string;
  /** The language of what is no call: agents without named tools write commands of a shell. */
  language: string;
  unfoldTo?: number;
}

/** A step that calls tools: each call with the tool's name, its arguments, and what an edit changes. */
export function ToolCalls({ text, language, unfoldTo }: Props) {
  const parts = useMemo(() => partsOf(text), [text]);
  const calls = parts.some((part) => part.type === "call");
  return (
    <div class="calls">
      {parts.map((part, index) => {
        if (part.type === "call") return <CallView key={index} call={part} unfoldTo={unfoldTo} />;
        return calls ? (
          <p key={index} class="said-before">
            <Drawn {...part.said} />
          </p>
        ) : (
          <Code key={index} lines={linesOf(part.said)} language={language} unfoldTo={unfoldTo} />
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
      {call.given && <Code lines={linesOf(call.given)} unfoldTo={unfoldTo} wrap />}
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
  const said = unquoted(value);
  if (!isLong(member)) return <code><Drawn {...said} /></code>;
  return <Code lines={linesOf(said)} language={languageOf(call, member)} unfoldTo={unfoldTo} wrap />;
}
