import { useLayoutEffect } from "preact/hooks";
import type { Explanation } from "../api/types";
import { RichText } from "../reading/RichText";
import { text } from "../text";
import { Sign } from "../ui/signs";

/** In place of the way to submit: how the answer stands to what is known, and why. Enter goes on. */
export function Verdict({ explanation, last, onNext }: { explanation: Explanation; last: boolean; onNext: () => void }) {
  const { outcome, said, known, accepted } = explanation;
  const why = explanation.explanation || explanation.comment;
  const shown = accepted.filter((position) => position !== known);
  useLayoutEffect(() => {
    const row = document.querySelector<HTMLElement>(".shown .step.current");
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "center" });
  }, []);
  return (
    <div class="action-bar verdict" data-outcome={outcome}>
      <div role="status">
        <p class="outcome">
          <Sign answer={outcome === "right" ? "good" : outcome === "gave_up" ? "unsure" : "bad"} />{" "}
          <strong>{text.practice.outcomes[outcome]}</strong>
        </p>
        <dl>
          <div>
            <dt>{text.practice.said}</dt>
            <dd>{said === null ? text.practice.gaveUp : inWords(said)}</dd>
          </div>
          <div>
            <dt>{text.practice.known}</dt>
            <dd>{inWords(known)}</dd>
          </div>
        </dl>
        {shown.length > 0 && <p class="muted">{text.practice.accepted(shown.map(inWords).join(", "))}</p>}
        {why && <RichText text={why} />}
      </div>
      <div class="submit">
        <button type="button" class="primary" aria-keyshortcuts="Enter" onClick={onNext}>
          {last ? text.practice.finish : text.practice.next} <kbd aria-hidden="true">Enter</kbd>
        </button>
      </div>
    </div>
  );
}

function inWords(firstError: number): string {
  return firstError < 0 ? text.practice.none : text.practice.firstError(firstError + 1);
}
