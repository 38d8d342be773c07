import { placesOf } from "../state/choosing";
import { acceptable, left, readiness, rows } from "../state/derived";
import { type Action, markOf, type State } from "../state/model";
import { text } from "../text";
import { KeyButton } from "./controls";
import { keyOf, shortcutsOf } from "./keys";
import { SkipPrompt, StopPrompt } from "./prompts";
import { Rating } from "./Rating";
import { useScheme } from "./scheme";

interface Props {
  lease: number;
  state: State;
  skipping: boolean;
  /** Why not all remaining steps were accepted; empty if that was not tried. */
  note: string;
  act: (action: Action) => void;
  onSubmit: () => void;
  onNoError: () => void;
  onSkip: (reason: string) => void;
  onStay: () => void;
}

/** The bar at the foot of the page: remaining steps, Submit, and on a narrow screen the rating buttons. */
export function ActionBar({ lease, state, skipping, note, act, onSubmit, onNoError, onSkip, onStay }: Props) {
  const ready = readiness(state);
  const { stop } = state.work;
  const current = rows(state).find((row) => row.step.id === state.cursor);
  return (
    <div class="action-bar">
      {skipping ? (
        <SkipPrompt lease={lease} onSkip={onSkip} onStay={onStay} />
      ) : (
        stop && <StopPrompt key={stop.kind} stop={stop} act={act} onSubmit={onSubmit} />
      )}
      {!skipping && !stop && current?.reached && (
        <div class="thumb">
          <Rating
            size="wide"
            label={text.step(current.position + 1)}
            value={markOf(state.work, state.cursor).answer}
            onRate={(answer) => act({ type: "rate", step: state.cursor, answer })}
          />
        </div>
      )}
      {!skipping && (
        <div class="submit">
          <UndoButtons state={state} act={act} />
          <p id="readiness">
            {note || whatNext(state)}{" "}
            {!note && !ready.ready && ready.why !== "reason" && ready.next !== state.cursor && (
              <button type="button" class="link" onClick={() => act({ type: "go", step: ready.next })}>
                {text.submit.goThere}
              </button>
            )}
          </p>
          <PathEnd state={state} act={act} />
          {!stop && acceptable(state).length > 0 && (
            <KeyButton about="no_error" title={text.accepting.noErrorHelp} onClick={onNoError}>
              {text.accepting.noError}
            </KeyButton>
          )}
          <KeyButton about="submit" class="primary" aria-disabled={!ready.ready} aria-describedby="readiness" onClick={onSubmit}>
            {text.submit.submit}
          </KeyButton>
        </div>
      )}
    </div>
  );
}

function UndoButtons({ state, act }: Pick<Props, "state" | "act">) {
  const key = useScheme().keyOf("undo");
  return (
    <span class="undo">
      <button type="button" class="quiet" aria-disabled={!state.past.length} title={`${text.submit.undo} (${key})`} aria-label={text.submit.undo} onClick={() => act({ type: "undo" })}>
        ↶
      </button>
      <button type="button" class="quiet" aria-disabled={!state.future.length} title={`${text.submit.redo} (${text.shortcuts.held.Shift} ${key})`} aria-label={text.submit.redo} onClick={() => act({ type: "redo" })}>
        ↷
      </button>
    </span>
  );
}

/** One line with the progress of the work. */
export function whatNext(state: State): string {
  const ready = readiness(state);
  if (state.scheme.choose_path && !state.work.stop) return whatNextOnPath(state);
  if (!ready.ready) {
    if (ready.why === "reason") return text.submit.needsReason;
    if (ready.why === "asked") return text.submit.asked[ready.what];
    if (ready.why === "choose") return whatNextOnPath(state);
    if (left(state).every((row) => !row.main)) return text.submit.leftOther(ready.count);
    return state.scheme.stop_at_first_error ? text.submit.left(ready.count) : text.submit.leftAll(ready.count);
  }
  if (ready.finish === "give_up" || ready.finish === "bad_problem") return text.submit.stop[ready.finish];
  return ready.firstError === null ? text.submit.noError : text.submit.foundError(ready.firstError + 1);
}

/** If a path is chosen: marks the solution as complete before its candidates are, or undoes that. */
function PathEnd({ state, act }: { state: State; act: (action: Action) => void }) {
  if (!state.scheme.choose_path || state.work.stop) return null;
  const ended = state.work.endsAt !== null && readiness(state).ready;
  const places = placesOf(state).length;
  if (!ended && (places === 1 || places === state.steps.length)) return null;
  return (
    <KeyButton about="complete" aria-pressed={ended} onClick={() => act({ type: "complete" })}>
      {ended ? text.choosing.incomplete : text.choosing.complete}
    </KeyButton>
  );
}

/** One line with the state of the path. */
function whatNextOnPath(state: State): string {
  const ready = readiness(state);
  const places = placesOf(state);
  const here = (places.at(-1)?.entry.position ?? 0) + 1;
  if (ready.ready) return places.at(-1)?.deadEnd ? text.choosing.deadEnd(here) : text.choosing.done(places.length);
  if (ready.why === "asked") return text.submit.asked[ready.what];
  if (ready.why === "left") return text.choosing.left(ready.count, here);
  return text.choosing.choose(here, keyOf("choose", shortcutsOf(state.scheme)));
}
