import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Action, Stop } from "../state/model";
import { text } from "../text";
import { inWords, reasons, toKeep, type Reason } from "../text/reasons";
import { LONGEST_TEXT } from "./Written";

/** Giving up, or a bad problem: the reason is part of the work, so it is kept and can be undone. */
export function StopPrompt({ stop, act, onSubmit }: { stop: Stop; act: (action: Action) => void; onSubmit: () => void }) {
  const set = (reason: string) => act({ type: "stop", kind: stop.kind, reason });
  return (
    <Prompt
      title={text.stop.title[stop.kind]}
      offered={reasons((catalogue) => catalogue.stop.reasons[stop.kind])}
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

/** Skipping gives the solution back; nothing of the work is handed in. */
export function SkipPrompt({ onSkip, onStay }: { onSkip: (reason: string) => void; onStay: () => void }) {
  const input = useFocused();
  const submit = (form: HTMLFormElement) => {
    const reason = String(new FormData(form).get("reason") ?? "").trim();
    if (reason) onSkip(reason);
  };
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
        {reasons((catalogue) => catalogue.skip.reasons).map((reason) => (
          <button key={reason.kept} type="button" class="chip" onClick={() => onSkip(reason.kept)}>
            {reason.said}
          </button>
        ))}
      </div>
      <input ref={input} name="reason" required maxLength={LONGEST_TEXT} placeholder={text.skip.own} aria-label={text.skip.own} />
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
  offered: Reason[];
  own: string;
  value: string;
  onChange: (value: string) => void;
  onEnter: () => void;
  children: ComponentChildren;
}

function Prompt({ title, offered, own, value, onChange, onEnter, children }: PromptProps) {
  const input = useFocused();
  return (
    <div class="prompt" role="group" aria-label={title}>
      <p>{title}</p>
      <div class="chips">
        {offered.map(({ kept, said }) => (
          <button key={kept} type="button" class="chip" aria-pressed={kept === value} onClick={() => onChange(kept)}>
            {said}
          </button>
        ))}
      </div>
      <input
        ref={input}
        value={inWords(value, offered)}
        maxLength={LONGEST_TEXT}
        placeholder={own}
        aria-label={own}
        onInput={(event) => onChange(toKeep(event.currentTarget.value, offered))}
        onKeyDown={(event) => event.key === "Enter" && onEnter()}
      />
      <div class="ways">{children}</div>
    </div>
  );
}

/** A box that has the keyboard as soon as it is there: what is typed next goes into it. */
function useFocused(): RefObject<HTMLInputElement | null> {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  return input;
}
