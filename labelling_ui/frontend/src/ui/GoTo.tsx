import { useEffect, useRef, useState } from "preact/hooks";
import { rows } from "../state/derived";
import type { Action, State } from "../state/model";
import { text } from "../text";
import { showCurrent } from "./keyboard";

interface Props {
  state: State;
  act: (action: Action) => void;
}

/** A step by its number: each digit goes there, and any other key leaves the box and does what it does. */
export function GoTo({ state, act }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  useEffect(() => input.current?.focus(), []);
  const steps = rows(state).filter((row) => row.main);
  const seek = (value: string) => {
    const digits = value.replace(/\D/g, "");
    setTyped(digits);
    const row = steps.find(({ position }) => position + 1 === Number(digits));
    if (!row) return;
    act({ type: "go", step: row.step.id });
    showCurrent();
  };
  const there = steps.some(({ position }) => position + 1 === Number(typed));
  return (
    <div class="search-bar" role="group" aria-label={text.goTo.label}>
      <label htmlFor="go-to">{text.goTo.label}</label>
      <input
        ref={input}
        id="go-to"
        data-number
        inputMode="numeric"
        autocomplete="off"
        value={typed}
        onInput={(event) => seek(event.currentTarget.value)}
      />
      <span class="count" role="status">
        {typed && !there ? text.goTo.none(steps.length) : text.goTo.of(steps.length)}
      </span>
    </div>
  );
}
