import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";
import type { Explanation } from "../api/types";
import { RichText } from "../reading/RichText";
import { text } from "../text";
import { KeyButton } from "../ui/controls";
import { useScheme } from "../ui/scheme";
import { Sign } from "../ui/Rating";
import { Term } from "../ui/Term";

/** The comparison of the answer on the screen with the reference; null before the answer is submitted. */
export const Explained = createContext<Explanation | null>(null);

/** The reference's rating under a step, if it adds to the person's own rating. */
export function Known({ step }: { step: number }) {
  const { nameOf } = useScheme();
  const compared = useContext(Explained)?.steps.find((one) => one.step === step);
  if (!compared || compared.reference === null) return null;
  const { reference, answer, error_type: type, comment } = compared;
  if (reference === answer && reference !== "bad" && !comment) return null;
  return (
    <div class="known">
      <p>
        <Sign answer={reference} /> {[text.practice.here(nameOf(reference)), type].filter(Boolean).join(" · ")}
      </p>
      {comment && <RichText text={comment} />}
    </div>
  );
}

/** The verdict on the answer, with the reason, in place of the button to submit. Enter continues. */
export function Verdict({ explanation, last, onNext }: { explanation: Explanation; last: boolean; onNext: () => void }) {
  const { outcome, answer, reference, accepted } = explanation;
  const why = explanation.explanation || explanation.comment;
  const shown = accepted.filter((position) => position !== reference);
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
            <dt>{text.practice.answer}</dt>
            <dd>{answer === null ? text.practice.gaveUp : inWords(answer)}</dd>
          </div>
          <div>
            <dt>
              <Term about="reference">{text.practice.reference}</Term>
            </dt>
            <dd>{inWords(reference)}</dd>
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
