import type { Answer } from "../state/model";
import { text } from "../text";
import { Sign } from "./signs";

export const ANSWERS: { answer: Answer; key: string }[] = [
  { answer: "good", key: "1" },
  { answer: "neutral", key: "2" },
  { answer: "bad", key: "3" },
  { answer: "unsure", key: "4" },
];

interface Props {
  label: string;
  value: Answer | null;
  onRate: (answer: Answer) => void;
  wide?: boolean;
}

/** Four buttons; on `wide` each has its word. The mouse leaves the focus where it was, so that Enter still submits. */
export function Rating({ label, value, onRate, wide = false }: Props) {
  return (
    <div class={wide ? "rating wide" : "rating"} role="group" aria-label={text.solution.rating(label)}>
      {ANSWERS.map(({ answer, key }) => (
        <button
          key={answer}
          type="button"
          class={answer}
          aria-pressed={value === answer}
          aria-label={text.answers[answer]}
          aria-keyshortcuts={key}
          title={`${text.answers[answer]} (${key}): ${text.answerHelp[answer]}`}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onRate(answer)}
        >
          <Sign answer={answer} />
          {wide ? <span>{text.answers[answer]}</span> : <small aria-hidden="true">{key}</small>}
        </button>
      ))}
    </div>
  );
}
