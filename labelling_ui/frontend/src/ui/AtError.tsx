import { RichText } from "../reading/RichText";
import { missingOfCritique } from "../state/dimensions";
import { text } from "../text";
import { ANSWER_OF, RATINGS } from "../vocabulary";
import { backToStep, choosing } from "./keyboard";
import { Field } from "./controls";
import { useScheme } from "./scheme";
import { TermChips } from "./TermChips";
import { Sign } from "./Rating";
import type { RowProps } from "./row_props";

/** What the project asks about the first error: how far the solution had got, and what is wrong. */
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
          <div key={number} class="critique" data-rated={rated !== undefined}>
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

/** To what is to be rated next, else back to the step. */
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

/** Puts the keyboard on what is asked about the first error. */
export function focusAsked(what: keyof typeof PLACES): void {
  for (const selector of PLACES[what].split(", ")) {
    const found = document.querySelector<HTMLElement>(`.shown ${selector}`);
    if (found) return found.focus();
  }
}
