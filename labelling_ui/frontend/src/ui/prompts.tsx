import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Action, Stop } from "../state/model";
import { readInTab, writeInTab } from "../storage/browser";
import { type Catalogue, text } from "../text";
import { en } from "../text/en";
import { LONGEST_TEXT } from "../vocabulary";

/** Giving up, or a bad problem: the reason is part of the work, so it is stored and can be undone. */
export function StopPrompt({ stop, act, onSubmit }: { stop: Stop; act: (action: Action) => void; onSubmit: () => void }) {
  const set = (reason: string) => act({ type: "stop", kind: stop.kind, reason });
  return (
    <Prompt
      title={text.stop.title[stop.kind]}
      offered={reasons((catalogue) => catalogue.stop.reasons[stop.kind])}
      value={stop.reason}
      onChange={set}
      onSubmit={onSubmit}
    >
      <button type="button" class="quiet" onClick={() => act({ type: "continue" })}>
        {text.stop.back}
      </button>
    </Prompt>
  );
}

/** Skipping returns the solution to the queue; nothing of the work is submitted. */
export function SkipPrompt({ lease, onSkip, onStay }: { lease: number; onSkip: (reason: string) => void; onStay: () => void }) {
  const key = `skip:${lease}`;
  const [reason, setReason] = useState(() => readInTab(key));
  return (
    <Prompt
      title={text.skip.title}
      offered={reasons((catalogue) => catalogue.skip.reasons)}
      value={reason}
      onChange={(typed) => {
        setReason(typed);
        writeInTab(key, typed);
      }}
      onChoose={onSkip}
      onSubmit={() => reason.trim() && onSkip(reason.trim())}
    >
      <button type="submit" class="primary">
        {text.skip.confirm}
      </button>
      <button type="button" class="quiet" onClick={onStay}>
        {text.skip.back}
      </button>
    </Prompt>
  );
}

interface PromptProps {
  title: string;
  offered: Reason[];
  value: string;
  onChange: (value: string) => void;
  /** Whether choosing a predefined reason submits at once, and a custom one must not be empty. */
  onChoose?: (stored: string) => void;
  onSubmit: () => void;
  children: ComponentChildren;
}

/** Asks for a reason: a predefined one, by mouse or digit, or the person's own. It takes the focus. */
function Prompt({ title, offered, value, onChange, onChoose, onSubmit, children }: PromptProps) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const own = value !== "" && !offered.some(({ stored }) => stored === value);
  const choose = onChoose ?? onChange;
  return (
    <form
      class="prompt"
      aria-label={title}
      noValidate={!onChoose}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      onKeyDown={(event) => !own && chooseByDigit(event, offered, choose)}
    >
      <p>{title}</p>
      <div class="chips">
        {offered.map(({ stored, label }, index) => (
          <button
            key={stored}
            type="button"
            class="chip"
            aria-pressed={onChoose ? undefined : stored === value}
            aria-keyshortcuts={String(index + 1)}
            onClick={() => choose(stored)}
          >
            <kbd aria-hidden="true">{index + 1}</kbd> {label}
          </button>
        ))}
      </div>
      <input
        ref={input}
        required
        value={toLabel(value, offered)}
        maxLength={LONGEST_TEXT}
        placeholder={text.stop.own}
        aria-label={text.stop.own}
        onInput={(event) => onChange(toStored(event.currentTarget.value, offered))}
      />
      <div class="ways">{children}</div>
    </form>
  );
}

/** Chooses the reason of a digit; call it only while no custom reason is typed. */
function chooseByDigit(event: KeyboardEvent, offered: Reason[], choose: (stored: string) => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !/^[1-9]$/.test(event.key)) return;
  const reason = offered[Number(event.key) - 1];
  if (!reason) return;
  event.preventDefault();
  if (!event.repeat) choose(reason.stored);
}

/**
 * A predefined reason: `stored` is submitted, in one language for all readers of the data; `label` is on the button.
 */
interface Reason {
  stored: string;
  label: string;
}

/** The reasons that `of` picks from a catalogue: stored in English, labelled in the reader's language. */
export function reasons(of: (catalogue: Catalogue) => Record<string, string>): Reason[] {
  const labels = of(text);
  return Object.entries(of(en)).map(([name, stored]) => ({ stored, label: labels[name] ?? stored }));
}

/** A stored reason in the reader's language; a person's own words are unchanged. */
export function toLabel(stored: string, offered: Reason[]): string {
  return offered.find((reason) => reason.stored === stored)?.label ?? stored;
}

/** The button that goes back. */
export function toStored(label: string, offered: Reason[]): string {
  return offered.find((reason) => reason.label === label)?.stored ?? label;
}
