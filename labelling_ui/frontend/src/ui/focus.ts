import { useEffect, useMemo } from "preact/hooks";
import { FocusClock } from "../session/focus_clock";
import type { Desk } from "../session/desk";

const MOVEMENTS = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove", "focus"];
const TURNS = ["blur", "visibilitychange"];

/** Counts while the page is in front, the person is not on a break, and their hand has not rested for too long. */
export function useFocusClock(session: Desk, idleSeconds: number): FocusClock {
  const clock = useMemo(() => {
    const focused = () => document.visibilityState === "visible" && document.hasFocus() && !session.resting;
    return new FocusClock(() => performance.now(), focused, 1000 * idleSeconds);
  }, [session, idleSeconds]);
  useEffect(() => {
    const sync = () => clock.sync();
    const moved = () => clock.moved();
    for (const event of TURNS) window.addEventListener(event, sync, true);
    for (const event of MOVEMENTS) window.addEventListener(event, moved, { capture: true, passive: true });
    return () => {
      for (const event of TURNS) window.removeEventListener(event, sync, true);
      for (const event of MOVEMENTS) window.removeEventListener(event, moved, true);
    };
  }, [clock]);
  return clock;
}
