import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type Command, commandOf, placeOf, type Shortcut } from "./keys";

/** A rest of this length ends a run of typing. */
const REST_MS = 400;

/**
 * A run of typing that began while no solution was on the screen. Its presses are not meant for the solution that
 * appears in the middle: blindly typed words would rate it, and an `e` would end it.
 */
export class BlindRun {
  private last = -Infinity;

  /** Whether a press belongs to such a run: made at `at`, with a solution shown since `shownSince`, null for none. */
  takes(at: number, shownSince: number | null): boolean {
    const sighted = shownSince !== null && at >= shownSince && at - this.last >= REST_MS;
    if (!sighted) this.last = at;
    return !sighted;
  }
}

/** Commands that are not answers to the solution, and so are allowed in a blind run. */
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

  // Keys arrive faster than effects run: the listener always calls the latest version.
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
      // A key that changed nothing draws nothing: its focus request must not affect a later drawing.
      queueMicrotask(() => (focusNext.current = null));
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [focusNext]);
}
