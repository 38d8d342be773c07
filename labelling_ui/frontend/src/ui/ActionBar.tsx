import { acceptable } from "../state/answering";
import { left, readiness, rows } from "../state/derived";
import { markOf, type Action, type State } from "../state/model";
import { text } from "../text";
import { PathEnd, whatNextOnPath } from "./PathEnd";
import { SkipPrompt, StopPrompt } from "./prompts";
import { Rating } from "./Rating";
import { useScheme } from "./scheme";

interface Props {
  state: State;
  skipping: boolean;
  /** Why not all that is left was accepted; empty where it was not tried. */
  note: string;
  act: (action: Action) => void;
  onSubmit: () => void;
  onNoError: () => void;
  onSkip: (reason: string) => void;
  onStay: () => void;
}

/** At the foot of the page: what is left, submit, and on a narrow screen the rating of the current step. */
export function ActionBar({ state, skipping, note, act, onSubmit, onNoError, onSkip, onStay }: Props) {
  const ready = readiness(state);
  const { stop } = state.work;
  const noErrorKey = useScheme().keyOf("no_error");
  const current = rows(state).find((row) => row.step.id === state.cursor);
  return (
    <div class="action-bar">
      {skipping ? (
        <SkipPrompt onSkip={onSkip} onStay={onStay} />
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
            <button
              type="button"
              class="quiet"
              title={text.accepting.noErrorHelp}
              aria-keyshortcuts={noErrorKey || undefined}
              onMouseDown={(event) => event.preventDefault()}
              onClick={onNoError}
            >
              {text.accepting.noError} {noErrorKey && <kbd aria-hidden="true">{noErrorKey}</kbd>}
            </button>
          )}
          <button
            type="button"
            class="primary"
            aria-disabled={!ready.ready}
            aria-describedby="readiness"
            aria-keyshortcuts="Enter"
            onClick={onSubmit}
          >
            {text.submit.submit} <kbd aria-hidden="true">Enter</kbd>
          </button>
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

/** One line that says how far the work is. */
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
