import { useEffect, useRef, useState } from "preact/hooks";
import { rows } from "../state/derived";
import { markOf, type State } from "../state/model";
import { text } from "../text";
import { whatNext } from "./ActionBar";
import { useScheme } from "./scheme";

/** Says to a screen reader what a rating did. `said` is a sentence of the page's own, said when it changes. */
export function Announcer({ state, said }: { state: State | null; said: string }) {
  const { nameOf } = useScheme();
  const [words, setWords] = useState("");
  const before = useRef<State | null>(null);
  useEffect(() => {
    const earlier = before.current;
    before.current = state;
    if (!state || !earlier || earlier.steps !== state.steps || earlier.work === state.work) return;
    const changed = rows(state).filter(
      (row) => markOf(state.work, row.step.id).answer !== markOf(earlier.work, row.step.id).answer,
    );
    if (changed.length === 0) return;
    const sentences = changed.map((row) => {
      const { answer } = markOf(state.work, row.step.id);
      return text.solution.mapStep(row.position + 1, answer ? nameOf(answer) : text.solution.unrated);
    });
    setWords(`${sentences.join(". ")}. ${whatNext(state)}.`);
  }, [state]);
  useEffect(() => setWords(said), [said]);
  return (
    <p class="visually-hidden" role="status" aria-live="polite">
      {words}
    </p>
  );
}
