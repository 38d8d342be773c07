import { useEffect } from "preact/hooks";
import type { Config } from "../config";
import type { Desk } from "../session/desk";
import type { FocusClock } from "../session/focus_clock";

const SPEND_EVERY_MS = 5_000;

/** Notes the time spent and keeps the lease, at intervals. `spend` stays the same function. */
export function useBeats(session: Desk, config: Config, clock: FocusClock, spend: () => void): void {
  useEffect(() => {
    const timers = [setInterval(spend, SPEND_EVERY_MS), setInterval(beat, 1000 * config.heartbeatSeconds)];
    // A page that is only open does not keep the lease: others get the solution some time after the hand rests.
    function beat() {
      const atWork = clock.rested() < 1000 * Math.max(config.heartbeatSeconds, config.pace.idleSeconds);
      if (document.visibilityState === "visible" && atWork) void session.heartbeat();
    }
    return () => timers.forEach(clearInterval);
  }, [session, spend, config, clock]);
}
