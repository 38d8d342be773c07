import { useEffect, useMemo } from "preact/hooks";
import type { Config } from "../config";
import type { Desk } from "../session/session";

/** Measures active time: while the page is in front and the person has not rested for too long. */
export class FocusClock {
  private since: number | null = null;
  private saved = 0;
  private movedAt: number;

  constructor(
    private readonly now: () => number,
    private readonly focused: () => boolean,
    private readonly idleAfterMs: number,
  ) {
    this.movedAt = now();
    this.sync();
  }

  /** Call when the focus may have changed. */
  sync(): void {
    const now = this.now();
    if (this.since !== null) this.saved += Math.max(0, Math.min(now, this.movedAt + this.idleAfterMs) - this.since);
    this.since = this.focused() ? now : null;
  }

  /** Records that the person is active. */
  moved(): void {
    this.sync();
    this.movedAt = this.now();
  }

  /** Milliseconds since the person was last active. */
  rested(): number {
    return this.now() - this.movedAt;
  }

  /** Active milliseconds since the last take. */
  take(): number {
    this.sync();
    const ms = this.saved;
    this.saved = 0;
    return ms;
  }
}

const MOVEMENTS = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove", "focus"];
const TURNS = ["blur", "visibilitychange"];

/** Counts while the page is in front, the person is not on a break, and has not rested for too long. */
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

const SPEND_EVERY_MS = 5_000;

/** Records the time spent and renews the lease, at intervals. `spend` stays the same function. */
export function useBeats(session: Desk, config: Config, clock: FocusClock, spend: () => void): void {
  useEffect(() => {
    const timers = [setInterval(spend, SPEND_EVERY_MS), setInterval(beat, 1000 * config.heartbeatSeconds)];
    // An idle page does not renew the lease: others get the solution some time after the person stops.
    function beat() {
      const atWork = clock.rested() < 1000 * Math.max(config.heartbeatSeconds, config.pace.idleSeconds);
      if (document.visibilityState === "visible" && atWork) void session.heartbeat?.();
    }
    return () => timers.forEach(clearInterval);
  }, [session, spend, config, clock]);
}
