import type { Answer } from "../state/model";
import { text } from "../text";
import { useScheme } from "./scheme";

const PATHS: Record<Answer, string> = {
  good: "M3 8.6 6.4 12 13 4.6",
  neutral: "M2.6 9.4c1.4-3 3.4-3.2 5.2-1.5s3.9 1.7 5.6-1.3",
  bad: "M4 4l8 8M12 4l-8 8",
  unsure: "M5.6 6.2a2.4 2.4 0 1 1 3.4 2.2c-.7.35-1 .8-1 1.6M8 12.1v.1",
};

/** The sign of a rating: a check, a tilde, a cross, a hollow question mark. Shape distinguishes them, colour helps. */
export function Sign({ answer }: { answer: Answer }) {
  return (
    <svg class={`sign ${answer}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {answer === "unsure" && <circle cx="8" cy="8" r="7" stroke-width="1.2" />}
      <path d={PATHS[answer]} />
    </svg>
  );
}

interface Props {
  label: string;
  value: Answer | null;
  onRate: (answer: Answer) => void;
  /**
   * Small buttons with signs for other rows; with words for the current step; wide ones for the thumb, without keys.
   */
  size?: "small" | "named" | "wide";
}

/**
 * A button for each answer of the scheme. The mouse leaves the focus in place, so that Enter still submits. Tab skips
 * the small ones: the keyboard reaches a step by j and k and rates it by one key.
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

/** The model's score of a step, shown quietly: in no rating's colour, and with its number. */
export function HintBar({ score }: { score: number }) {
  return (
    <div class="hint" title={text.hint.help}>
      <span
        class="meter"
        role="meter"
        aria-label={text.hint.title}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percentOf(score)}
        aria-valuetext={hintText(score)}
      >
        <span style={{ inlineSize: `${percentOf(score)}%` }} />
      </span>
      <span aria-hidden="true">{hintText(score)}</span>
    </div>
  );
}

/** A score in words; nothing without one. */
export function hintText(score: number | null): string {
  return score === null ? "" : text.hint.score(percentOf(score));
}

function percentOf(score: number): number {
  return Math.round(100 * score);
}
