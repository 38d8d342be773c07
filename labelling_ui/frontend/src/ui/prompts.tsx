import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Action, Stop } from "../state/model";
import { text } from "../text";
import { inWords, reasons, toKeep, type Reason } from "../text/reasons";
import { LONGEST_TEXT } from "../vocabulary";

/** Giving up, or a bad problem: the reason is part of the work, so it is kept and can be undone. */
export function StopPrompt({ stop, act, onSubmit }: { stop: Stop; act: (action: Action) => void; onSubmit: () => void }) {
  const set = (reason: string) => act({ type: "stop", kind: stop.kind, reason });
  return (
    <Prompt
      title={text.stop.title[stop.kind]}
      offered={reasons((catalogue) => catalogue.stop.reasons[stop.kind])}
      hint={text.stop.own}
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
  const offered = reasons((catalogue) => catalogue.skip.reasons);
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
      onKeyDown={(event) => !input.current?.value && chooseByDigit(event, offered, onSkip)}
    >
      <p>{text.skip.title}</p>
      <Chips offered={offered} onChoose={onSkip} />
      <input ref={input} name="reason" required maxLength={LONGEST_TEXT} placeholder={text.stop.own} aria-label={text.stop.own} />
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
  hint: string;
  value: string;
  onChange: (value: string) => void;
  onEnter: () => void;
  children: ComponentChildren;
}

function Prompt({ title, offered, hint, value, onChange, onEnter, children }: PromptProps) {
  const input = useFocused();
  const own = value !== "" && !offered.some(({ kept }) => kept === value);
  return (
    <div class="prompt" role="group" aria-label={title} onKeyDown={(event) => !own && chooseByDigit(event, offered, onChange)}>
      <p>{title}</p>
      <Chips offered={offered} chosen={value} onChoose={onChange} />
      <input
        ref={input}
        value={inWords(value, offered)}
        maxLength={LONGEST_TEXT}
        placeholder={hint}
        aria-label={hint}
        onInput={(event) => onChange(toKeep(event.currentTarget.value, offered))}
        onKeyDown={(event) => event.key === "Enter" && onEnter()}
      />
      <div class="ways">{children}</div>
    </div>
  );
}

interface ChipsProps {
  offered: Reason[];
  /** Undefined where a reason is done with as soon as it is chosen. */
  chosen?: string;
  onChoose: (kept: string) => void;
}

function Chips({ offered, chosen, onChoose }: ChipsProps) {
  return (
    <div class="chips">
      {offered.map(({ kept, said }, index) => (
        <button
          key={kept}
          type="button"
          class="chip"
          aria-pressed={chosen === undefined ? undefined : kept === chosen}
          aria-keyshortcuts={String(index + 1)}
          onClick={() => onChoose(kept)}
        >
          <kbd aria-hidden="true">{index + 1}</kbd> {said}
        </button>
      ))}
    </div>
  );
}

/** Takes a digit for the reason of that number; for the caller to ask only while nobody has written a reason. */
function chooseByDigit(event: KeyboardEvent, offered: Reason[], choose: (kept: string) => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !/^[1-9]$/.test(event.key)) return;
  const reason = offered[Number(event.key) - 1];
  if (!reason) return;
  event.preventDefault();
  if (!event.repeat) choose(reason.kept);
}

/** A box that has the keyboard as soon as it is there: what is typed next goes into it. */
function useFocused(): RefObject<HTMLInputElement | null> {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  return input;
}
