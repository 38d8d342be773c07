import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren, ComponentProps } from "preact";
import type { StepPosition } from "../api/types";
import { dimensionsInWords } from "../state/in_words";
import { text } from "../text";
import { backToStep } from "./keyboard";
import { KeyButton } from "./controls";
import { useScheme } from "./scheme";
import type { RowProps } from "./row_props";
import { TermChips } from "./TermChips";

/** What the project asks of any step beside its rating; of a step that is not looked at, what was said of it. */
export function Dimensions(props: RowProps) {
  const { step, position, mark, current, behindError, act } = props;
  const { scheme } = useScheme();
  const [open, setOpen] = useState(false);
  if (!scheme) return null;
  const { dimensions } = mark;
  if (!current) {
    const said = dimensionsInWords(dimensions);
    return said.length > 0 ? <p class="beside-said">{said.join(" · ")}</p> : null;
  }
  const asksConsistency = scheme.consistency && position > 0;
  const asksRecovery = scheme.recovery && behindError;
  const asksClauses = scheme.policy_clauses.length > 0;
  if (!asksConsistency && !asksRecovery && !asksClauses && !scheme.redundancy) return null;
  return (
    <div class="beside">
      {scheme.redundancy && (
        <Toggle about="redundant" aria-pressed={dimensions.redundant} onClick={() => act({ type: "redundant", step: step.id })}>
          {text.dimensions.redundant}
        </Toggle>
      )}
      {asksRecovery && (
        <Toggle about="recovers" aria-pressed={dimensions.recovers} onClick={() => act({ type: "recovers", step: step.id })}>
          {text.dimensions.recovers}
        </Toggle>
      )}
      {asksConsistency && <Consistency {...props} />}
      {asksClauses && (
        <Toggle about="clause" aria-expanded={open} onClick={() => setOpen(!open)}>
          {dimensions.clauses.length > 0 ? text.dimensions.breaks(dimensions.clauses.join(", ")) : text.dimensions.clause}
        </Toggle>
      )}
      {open && (
        <Focused onLeave={() => setOpen(false)}>
          <TermChips
            title={text.dimensions.clause}
            class="clauses"
            terms={scheme.policy_clauses}
            chosen={dimensions.clauses}
            onChoose={(name) => {
              act({ type: "clause", step: step.id, name });
              setOpen(false);
            }}
          />
        </Focused>
      )}
    </div>
  );
}

/** Whether the step agrees with the earlier ones, and which it contradicts. */
function Consistency({ step, steps, position, mark, act }: RowProps) {
  const { keyOf } = useScheme();
  const { consistent, consistent_with } = mark.dimensions;
  const say = (agrees: boolean | null, earlier: number | null) =>
    act({ type: "consistency", step: step.id, consistent: agrees, with: earlier });
  return (
    <span class="consistency" role="group" aria-label={text.dimensions.consistency}>
      <button type="button" class="chip" aria-pressed={consistent === true} onClick={() => say(consistent ? null : true, null)}>
        {text.dimensions.consistent}
      </button>
      <label>
        {text.dimensions.contradicts} <kbd aria-hidden="true">{keyOf("consistency")}</kbd>{" "}
        <select
          data-tool="consistency"
          value={consistent === false ? String(consistent_with) : ""}
          onChange={(event) => {
            const { value } = event.currentTarget;
            say(value === "" ? null : false, value === "" ? null : Number(value));
            backToStep(event.currentTarget);
          }}
        >
          <option value="">{text.dimensions.noStep}</option>
          {steps.filter((at) => at.position < position).map((at) => (
            <option key={at.position} value={at.position}>
              {beginning(at)}
            </option>
          ))}
        </select>
      </label>
    </span>
  );
}

function beginning({ position, alternatives }: StepPosition): string {
  const said = alternatives[0]?.text.replace(/\s+/g, " ").trim() ?? "";
  return `${position + 1}  ${said.length > 60 ? `${said.slice(0, 60)}…` : said}`;
}

function Toggle(props: ComponentProps<typeof KeyButton>) {
  return <KeyButton class="chip" data-tool={props.about} {...props} />;
}

/** Has the keyboard as soon as it is there, until Escape gives it back. */
function Focused({ onLeave, children }: { onLeave: () => void; children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.querySelector("button")?.focus(), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    backToStep(place.current!);
    onLeave();
  };
  return (
    <div ref={place} onKeyDown={onKeyDown}>
      {children}
    </div>
  );
}

/** Does what the key of a tool of the current step does; nothing where the step is not asked that. */
export function pressTool(tool: "redundant" | "recovers" | "consistency" | "clause"): void {
  const found = document.querySelector<HTMLElement>(`.shown .step.current [data-tool="${tool}"]`);
  if (found instanceof HTMLSelectElement) found.focus();
  else found?.click();
}
