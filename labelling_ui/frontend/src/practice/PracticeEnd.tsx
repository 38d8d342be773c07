import type { Config } from "../config";
import type { PracticeView } from "../session/view";
import { text } from "../text";

interface Props {
  practice: PracticeView;
  config: Config;
  onAgain: (which: "all" | "missed") => void;
}

/** When the round is over: how it went, and what to do next. */
export function PracticeEnd({ practice, config, onAgain }: Props) {
  const wrong = practice.total - practice.known;
  return (
    <div class="idle" role="status">
      <h1>{text.idle.practised[0]}</h1>
      <p>{text.practice.done(practice.known, practice.total)}</p>
      <div class="ways">
        <a class="primary" href={config.labelUrl}>
          {text.practice.label}
        </a>
        {wrong > 0 && (
          <button type="button" class="quiet" onClick={() => onAgain("missed")}>
            {text.practice.missed(wrong)}
          </button>
        )}
        <button type="button" class="quiet" onClick={() => onAgain("all")}>
          {text.practice.again}
        </button>
        <a class="quiet" href={config.homeUrl}>
          {text.idle.home}
        </a>
      </div>
    </div>
  );
}
