import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Explanation } from "../api/types";
import { RichText } from "../reading/RichText";
import { text } from "../text";
import { useScheme } from "../ui/scheme";
import { Sign } from "../ui/signs";

/** How the answer on the screen stands to what is known; null where that is not told. */
export const Explained = createContext<Explanation | null>(null);

/** Under a step, what is known of it, where that says more than the person's own rating. */
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
