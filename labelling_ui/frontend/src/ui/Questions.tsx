import type { ComponentChildren, ComponentProps } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { StepPosition } from "../api/types";
import { RichText } from "../reading/RichText";
import { missingOfCritique } from "../state/dimensions";
import { dimensionsInWords } from "../state/in_words";
import { text } from "../text";
import { ANSWER_OF, RATINGS } from "../vocabulary";
import { Field, KeyButton } from "./controls";
import { backToStep, choosing } from "./keyboard";
import { Sign } from "./Rating";
import type { RowProps } from "./row_props";
import { useScheme } from "./scheme";
import { TermChips } from "./TermChips";

/** The project's questions about any step besides its rating; on a step without the cursor, the answers. */
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

/** Whether the step is consistent with earlier ones, and which it contradicts. */
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

/** Takes the focus when it appears, until Escape returns it. */
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

/** Performs the action of a tool's key on the current step, if the project asks for it there. */
export function pressTool(tool: "redundant" | "recovers" | "consistency" | "clause"): void {
  const found = document.querySelector<HTMLElement>(`.shown .step.current [data-tool="${tool}"]`);
  if (found instanceof HTMLSelectElement) found.focus();
  else found?.click();
}

/** The project's questions about the first error: how far the solution got, and what is wrong. */
export function AtError(props: RowProps) {
  const { scheme } = useScheme();
  if (!props.atError || !scheme) return null;
  return (
    <div class="at-error">
      {scheme.ask_progress && <Progress {...props} />}
      {scheme.critique === "given" && props.step.critiques.length > 0 && <GivenCritiques {...props} />}
      {scheme.critique !== "none" && <WrittenCritique {...props} />}
    </div>
  );
}

function Progress({ progress, act }: RowProps) {
  const { keyOf } = useScheme();
  const { far } = text.atError;
  return (
    <TermChips
      title={text.atError.progress}
      keys={keyOf("progress")}
      class="progress"
      terms={far.map((name) => ({ name, help: "", group: "" }))}
      chosen={progress === null ? [] : [far[progress]!]}
      onChoose={(name) => act({ type: "progress", value: far.indexOf(name) })}
    />
  );
}

function GivenCritiques({ step, mark, act }: RowProps) {
  const { keyOf } = useScheme();
  return (
    <div class="critiques" role="group" aria-label={text.atError.critiques}>
      <p>
        {text.atError.critiques} <kbd aria-hidden="true">{keyOf("critique")}</kbd>
      </p>
      {step.critiques.map((critique, number) => {
        const rated = mark.dimensions.critique_ratings[number];
        const choose = (index: number, group: HTMLElement) => {
          act({ type: "critique_rating", step: step.id, number, rating: RATINGS[index]! });
          toNextCritique(group);
        };
        return (
          <div key={number} class="critique" data-rated={rated != null}>
            <RichText text={critique} />
            <div
              class="rating"
              role="group"
              aria-label={text.atError.critique(number + 1)}
              onKeyDown={choosing(choose)}
            >
              {RATINGS.map((rating, index) => (
                <button
                  key={rating}
                  type="button"
                  class={ANSWER_OF[rating]}
                  aria-pressed={rated === rating}
                  aria-label={text.answers[ANSWER_OF[rating]]}
                  onClick={(event) => choose(index, event.currentTarget)}
                >
                  <Sign answer={ANSWER_OF[rating]} /> <small aria-hidden="true">{index + 1}</small>
                </button>
              ))}
            </div>
          </div>
        );
      })}
    </div>
  );
}

/** Focuses the next unrated critique, else the step. */
function toNextCritique(from: HTMLElement): void {
  const here = from.closest(".critique");
  const open = [...(here?.parentElement?.querySelectorAll('.critique[data-rated="false"]') ?? [])];
  const next = open.find((other) => other !== here)?.querySelector("button");
  if (next) next.focus();
  else backToStep(from);
}

function WrittenCritique({ step, mark, act }: RowProps) {
  const { scheme } = useScheme();
  const { critique } = mark.dimensions;
  const missing = missingOfCritique(step, mark.dimensions, scheme?.critique ?? "none");
  if (scheme?.critique === "given" && missing !== "text" && !critique) return null;
  return (
    <Field
      label={scheme?.critique === "given" && step.critiques.length > 0 ? text.atError.noneGood : text.atError.written}
      about="critique"
      class="critique-text"
      rows={2}
      placeholder={text.atError.writtenPlaceholder}
      value={critique}
      onInput={(event) => act({ type: "critique", step: step.id, value: event.currentTarget.value })}
    />
  );
}

const PLACES = {
  progress: '.at-error .progress [aria-pressed="true"], .at-error .progress button',
  critique: '.at-error .critique[data-rated="false"] button, .at-error .critique-text, .at-error .critique button',
};

/** Focuses the questions about the first error. */
export function focusQuestion(what: keyof typeof PLACES): void {
  for (const selector of PLACES[what].split(", ")) {
    const found = document.querySelector<HTMLElement>(`.shown ${selector}`);
    if (found) return found.focus();
  }
}
