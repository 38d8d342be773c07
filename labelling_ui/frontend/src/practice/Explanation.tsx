import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";
import type { Explanation } from "../api/types";
import { RichText } from "../reading/RichText";
import { text } from "../text";
import { KeyButton } from "../ui/controls";
import { useScheme } from "../ui/scheme";
import { Sign } from "../ui/Rating";

/** How the current answer compares with the known one; null if that is not shown. */
export const Explained = createContext<Explanation | null>(null);

/** The known answer to a step, below it, if it says more than the person's rating. */
export function Known({ step }: { step: number }) {
  const { nameOf } = useScheme();
  const words = useContext(Explained)?.steps.find((one) => one.step === step);
  if (!words || words.known === null) return null;
  const { known, said, error_type: type, comment } = words;
  if (known === said && known !== "bad" && !comment) return null;
  return (
    <div class="known">
      <p>
        <Sign answer={known} /> {[text.practice.here(nameOf(known)), type].filter(Boolean).join(" · ")}
      </p>
      {comment && <RichText text={comment} />}
    </div>
  );
}

/** Replaces the submit button: the result of the answer, and why. Enter continues. */
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
        <KeyButton about="submit" class="primary" onClick={onNext}>
          {last ? text.practice.finish : text.practice.next}
        </KeyButton>
      </div>
    </div>
  );
}

function inWords(firstError: number): string {
  return firstError < 0 ? text.practice.none : text.practice.firstError(firstError + 1);
}
