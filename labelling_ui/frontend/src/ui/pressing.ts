import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { RefObject } from "preact";
import { BlindRun } from "./blind_run";
import { commandOf, placeOf, type Command, type Shortcut } from "./keys";

/** What is no answer to the solution on the screen, and so may be pressed in a blind run. */
const HARMLESS = new Set<Command["type"]>(["panel", "decide", "break", "returned"]);

interface Options {
  run: (command: Command) => void;
  shortcuts: readonly Shortcut[];
  /** Whether a solution is on the screen. */
  shown: boolean;
  focusNext: RefObject<string | null>;
}

/** Listens to the keyboard and runs the command of each key. */
export function usePresses({ run, shortcuts, shown, focusNext }: Options): void {
  const shownSince = useRef<number | null>(null);
  useLayoutEffect(() => {
    shownSince.current = shown ? performance.now() : null;
  }, [shown]);

  // Keys come faster than effects run: the listener calls what the last drawing made, never an older one.
  const now = useRef({ run, shortcuts });
  now.current = { run, shortcuts };
  useEffect(() => {
    const blindRun = new BlindRun();
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const blind = blindRun.takes(event.timeStamp, shownSince.current);
      const command = commandOf(event, placeOf(event.target), now.current.shortcuts);
      if (!command) return;
      event.preventDefault();
      if (blind && !HARMLESS.has(command.type)) return;
      now.current.run(command);
      // A key that changed nothing draws nothing: its wish must not take the keyboard from a later drawing.
      queueMicrotask(() => (focusNext.current = null));
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [focusNext]);
}
