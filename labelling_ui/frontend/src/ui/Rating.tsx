import type { Answer } from "../state/model";
import { text } from "../text";
import { useScheme } from "./scheme";
import { Sign } from "./signs";

interface Props {
  label: string;
  value: Answer | null;
  onRate: (answer: Answer) => void;
  /** Small ones for a row of its own, by their signs; with words for the current step; wide for the thumb, without keys. */
  size?: "small" | "named" | "wide";
}

/**
 * A button for each answer of the scheme. The mouse leaves the focus where it was, so that Enter still submits. Tab passes
 * the small ones by: the keyboard goes to a step by j and k and rates it by one key.
 */
export function Rating({ label, value, onRate, size = "small" }: Props) {
  const { answers } = useScheme();
  return (
    <div class={`rating ${size}`} role="group" aria-label={text.solution.rating(label)}>
      {answers.map(({ answer, name, help, key }) => (
        <button
          key={answer}
          type="button"
          tabIndex={size === "small" ? -1 : undefined}
          class={answer}
          aria-pressed={value === answer}
          aria-keyshortcuts={key}
          title={`${name} (${key}): ${help}`}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onRate(answer)}
        >
          <Sign answer={answer} />
          <span class={size === "small" ? "visually-hidden" : undefined}>{name}</span>
          {size !== "wide" && <small aria-hidden="true">{key}</small>}
        </button>
      ))}
    </div>
  );
}
