import type { ComponentChildren } from "preact";
import { left, readiness, rows } from "../state/derived";
import { markOf, type Action, type State, type Stop } from "../state/model";
import { text } from "../text";
import { Rating } from "./Rating";

interface Props {
  state: State;
  skipping: boolean;
  act: (action: Action) => void;
  onSubmit: () => void;
  onSkip: (reason: string) => void;
  onStay: () => void;
}

/** At the foot of the page: what is left, submit, and on a narrow screen the rating of the current step. */
export function ActionBar({ state, skipping, act, onSubmit, onSkip, onStay }: Props) {
  const ready = readiness(state);
  const { stop } = state.work;
  const current = rows(state).find((row) => row.step.id === state.cursor);
  return (
    <div class="action-bar">
      {skipping ? (
        <SkipPrompt onSkip={onSkip} onStay={onStay} />
      ) : (
        stop && <StopPrompt stop={stop} act={act} onSubmit={onSubmit} />
      )}
      {!skipping && !stop && current?.reached && (
        <div class="thumb">
          <Rating
            wide
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
            {whatNext(state)}{" "}
            {!ready.ready && ready.why === "left" && ready.next !== state.cursor && (
              <button type="button" class="link" onClick={() => act({ type: "go", step: ready.next })}>
                {text.submit.goThere}
              </button>
            )}
          </p>
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
  return (
    <span class="undo">
      <button type="button" class="quiet" aria-disabled={!state.past.length} title={`${text.submit.undo} (z)`} aria-label={text.submit.undo} onClick={() => act({ type: "undo" })}>
        ↶
      </button>
      <button type="button" class="quiet" aria-disabled={!state.future.length} title={`${text.submit.redo} (Shift z)`} aria-label={text.submit.redo} onClick={() => act({ type: "redo" })}>
        ↷
      </button>
    </span>
  );
}

/** One line that says how far the work is. */
export function whatNext(state: State): string {
  const ready = readiness(state);
  if (!ready.ready) {
    if (ready.why === "reason") return text.submit.needsReason;
    if (left(state).every((row) => !row.main)) return text.submit.leftOther(ready.count);
    return state.scheme.stop_at_first_error ? text.submit.left(ready.count) : text.submit.leftAll(ready.count);
  }
  if (ready.finish === "give_up" || ready.finish === "bad_problem") return text.submit.stop[ready.finish];
  return ready.firstError === null ? text.submit.noError : text.submit.foundError(ready.firstError + 1);
}

function StopPrompt({ stop, act, onSubmit }: { stop: Stop; act: Props["act"]; onSubmit: () => void }) {
  const set = (reason: string) => act({ type: "stop", kind: stop.kind, reason });
  return (
    <Prompt
      title={text.stop.title[stop.kind]}
      reasons={text.stop.reasons[stop.kind]}
      own={text.stop.own}
      value={stop.reason}
      onChange={set}
      onEnter={onSubmit}
    >
      <button type="button" class="quiet" onClick={() => act({ type: "continue" })}>
        {text.stop.back}
      </button>
    </Prompt>
  );
}

function SkipPrompt({ onSkip, onStay }: { onSkip: (reason: string) => void; onStay: () => void }) {
  const submit = (form: HTMLFormElement) => onSkip(String(new FormData(form).get("reason") ?? "").trim());
  return (
    <form
      class="prompt"
      aria-label={text.skip.title}
      onSubmit={(event) => {
        event.preventDefault();
        submit(event.currentTarget);
      }}
    >
      <p>{text.skip.title}</p>
      <div class="chips">
        {text.skip.reasons.map((reason) => (
          <button key={reason} type="button" class="chip" onClick={() => onSkip(reason)}>
            {reason}
          </button>
        ))}
      </div>
      <input name="reason" required autoFocus placeholder={text.skip.own} aria-label={text.skip.own} />
      <div class="ways">
        <button type="submit" class="primary">
          {text.skip.confirm}
        </button>
        <button type="button" class="quiet" onClick={onStay}>
          {text.skip.back}
        </button>
      </div>
    </form>
  );
}

interface PromptProps {
  title: string;
  reasons: string[];
  own: string;
  value: string;
  onChange: (value: string) => void;
  onEnter: () => void;
  children: ComponentChildren;
}

function Prompt({ title, reasons, own, value, onChange, onEnter, children }: PromptProps) {
  return (
    <div class="prompt" role="group" aria-label={title}>
      <p>{title}</p>
      <div class="chips">
        {reasons.map((reason) => (
          <button key={reason} type="button" class="chip" aria-pressed={reason === value} onClick={() => onChange(reason)}>
            {reason}
          </button>
        ))}
      </div>
      <input
        value={value}
        autoFocus
        placeholder={own}
        aria-label={own}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && onEnter()}
      />
      <div class="ways">{children}</div>
    </div>
  );
}
