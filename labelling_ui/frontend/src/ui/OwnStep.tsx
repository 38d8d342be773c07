import { RichText } from "../reading/RichText";
import { text } from "../text";
import { useScheme } from "./scheme";
import type { RowProps } from "./row_props";
import { Written } from "./Written";

/** A step in the person's own words: what the wrong one should have said, or a way on of their own. */
export function OwnStep({ position, way, ownStep, act }: Pick<RowProps, "position" | "way" | "ownStep" | "act">) {
  const { keyOf } = useScheme();
  if (ownStep === null) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    const leaves = event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey));
    if (leaves && way !== null) act({ type: "onward" });
  };
  return (
    <label class="field own">
      <span>
        {way === null ? text.solution.ownStep : text.choosing.ownStep} <kbd aria-hidden="true">{keyOf("own_step")}</kbd>
      </span>
      <Written
        id={`own-${position}`}
        rows={2}
        placeholder={text.solution.ownStepPlaceholder}
        value={ownStep}
        onInput={(event) => act({ type: "own_step", position, value: event.currentTarget.value })}
        onKeyDown={onKeyDown}
      />
      {/[$\\`]/.test(ownStep) && <RichText text={ownStep} />}
    </label>
  );
}
