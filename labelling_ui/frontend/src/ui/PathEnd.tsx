import { placesOf } from "../state/choosing";
import { readiness } from "../state/derived";
import type { Action, State } from "../state/model";
import { text } from "../text";
import { keyOf, shortcutsOf } from "./keys";
import { useScheme } from "./scheme";

/** Where the path is chosen: says that the solution is complete before its candidates are, or takes that back. */
export function PathEnd({ state, act }: { state: State; act: (action: Action) => void }) {
  const key = useScheme().keyOf("complete");
  if (!state.scheme.choose_path || state.work.stop) return null;
  const ended = state.work.endsAt !== null && readiness(state).ready;
  const places = placesOf(state).length;
  if (!ended && (places === 1 || places === state.steps.length)) return null;
  return (
    <button type="button" class="quiet" aria-pressed={ended} aria-keyshortcuts={key} onClick={() => act({ type: "complete" })}>
      {ended ? text.choosing.incomplete : text.choosing.complete} <kbd aria-hidden="true">{key}</kbd>
    </button>
  );
}

/** One line that says where the path stands. */
export function whatNextOnPath(state: State): string {
  const ready = readiness(state);
  const places = placesOf(state);
  const here = (places.at(-1)?.entry.position ?? 0) + 1;
  if (ready.ready) return places.at(-1)?.deadEnd ? text.choosing.deadEnd(here) : text.choosing.done(places.length);
  if (ready.why === "asked") return text.submit.asked[ready.what];
  if (ready.why === "left") return text.choosing.left(ready.count, here);
  return text.choosing.choose(here, keyOf("choose", shortcutsOf(state.scheme)));
}
