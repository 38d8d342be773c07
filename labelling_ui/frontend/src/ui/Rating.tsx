import type { Answer } from "../state/model";
import { text } from "../text";
import { useScheme } from "./scheme";
import { Sign } from "./signs";

interface Props {
  label: string;
  value: Answer | null;
  onRate: (answer: Answer) => void;
  wide?: boolean;
}

/** A button for each answer of the scheme; on `wide` each has its word. The mouse leaves the focus where it was, so that Enter still submits. */
export function Rating({ label, value, onRate, wide = false }: Props) {
  const { answers } = useScheme();
  return (
    <div class={wide ? "rating wide" : "rating"} role="group" aria-label={text.solution.rating(label)}>
      {answers.map(({ answer, name, help, key }) => (
        <button
          key={answer}
          type="button"
          class={answer}
          aria-pressed={value === answer}
          aria-keyshortcuts={key}
          title={`${name} (${key}): ${help}`}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onRate(answer)}
        >
          <Sign answer={answer} />
          <span class={wide ? undefined : "visually-hidden"}>{name}</span>
          {!wide && <small aria-hidden="true">{key}</small>}
        </button>
      ))}
    </div>
  );
}
