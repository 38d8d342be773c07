import { useEffect, useState } from "preact/hooks";
import { text } from "../text";

const MINUTE = 60_000;
const LOOK_EVERY_MS = 10_000;

interface Props {
  /** Milliseconds since 1970. */
  heldUntil: number;
  leaseMinutes: number;
  onKeep: () => void;
}

/** Says that the time for a solution runs out, when it does: while the hand works it never comes to that. */
export function LeaseNote({ heldUntil, leaseMinutes, onKeep }: Props) {
  const left = heldUntil - useNow();
  if (left > MINUTE * Math.min(5, leaseMinutes / 4)) return null;
  return (
    <p class="banner calm">
      {left > 0 ? text.sitting.runsOut(Math.ceil(left / MINUTE)) : text.sitting.ranOut}{" "}
      <button type="button" class="quiet" onClick={onKeep}>
        {text.sitting.keepIt}
      </button>
    </p>
  );
}

function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
