import { text } from "../text";

/** What the model thinks of a step, said quietly: in no rating's colour, and with its number. */
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
        aria-valuetext={hintSaid(score)}
      >
        <span style={{ inlineSize: `${percentOf(score)}%` }} />
      </span>
      <span aria-hidden="true">{hintSaid(score)}</span>
    </div>
  );
}

/** A score in words; nothing where there is none. */
export function hintSaid(score: number | null): string {
  return score === null ? "" : text.hint.score(percentOf(score));
}

function percentOf(score: number): number {
  return Math.round(100 * score);
}
