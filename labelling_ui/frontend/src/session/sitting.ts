import { readJson, type Storage } from "../storage/storage";

const MINUTE = 60_000;
/** Whoever was away for so long begins a new sitting. */
const AWAY_MS = 30 * MINUTE;
/** So long without work is a break. */
const BREAK_MS = 5 * MINUTE;
const WRITE_EVERY_MS = 5_000;
/** "Not now" puts the proposal of a break off for so long. */
const PUT_OFF_MS = 15 * MINUTE;

interface Stored {
  /** When work was last done, milliseconds since 1970. */
  last: number;
  worked_ms: number;
  since_break_ms: number;
  done: number;
  /** Solutions; 0 for none. */
  goal: number;
  /** The person knows that the goal is reached. */
  goal_seen: boolean;
}

/** What the page shows of a sitting. */
export interface SittingView {
  done: number;
  goal: number;
  workedMs: number;
  /** Worth a word now: the goal is reached, or it is time for a break. */
  proposal: "goal" | "break" | null;
  /** Since when the person is on a break, milliseconds since 1970. */
  restingSince: number | null;
}

interface SittingOptions {
  storage: Storage;
  key: string;
  /** Milliseconds of work after which a break is proposed; 0 for never. */
  breakAfterMs: number;
  /** The goal to begin with. */
  goal: number;
}

/** One stretch of work, over all pages of this browser: how much was done, towards what, and when to rest. */
export class Sitting {
  private restingSince: number | null = null;
  /** Time not written down yet. */
  private unwrittenMs = 0;

  constructor(private readonly options: SittingOptions) {}

  view(): SittingView {
    const { done, goal, worked_ms: worked, since_break_ms: sinceBreak, goal_seen } = this.read();
    const { breakAfterMs } = this.options;
    const due = breakAfterMs > 0 && sinceBreak + this.unwrittenMs >= breakAfterMs;
    const reached = goal > 0 && done >= goal && !goal_seen;
    const proposal = reached ? "goal" : due ? "break" : null;
    return { done, goal, workedMs: worked + this.unwrittenMs, proposal, restingSince: this.restingSince };
  }

  get resting(): boolean {
    return this.restingSince !== null;
  }

  /** Time that counts went by. */
  spend(ms: number): void {
    this.unwrittenMs += ms;
    if (this.unwrittenMs >= WRITE_EVERY_MS) this.write({});
  }

  finished(): void {
    this.write({ done: this.read().done + 1 });
  }

  aim(goal: number): void {
    this.write({ goal, goal_seen: false });
  }

  /** The person has seen what was proposed, and goes on. */
  putOff(): void {
    const { breakAfterMs } = this.options;
    const sinceBreak = Math.min(this.read().since_break_ms, Math.max(0, breakAfterMs - PUT_OFF_MS));
    if (this.view().proposal === "goal") this.write({ goal_seen: true });
    else this.write({ since_break_ms: sinceBreak });
  }

  rest(): void {
    this.write({ goal_seen: this.read().goal_seen || this.view().proposal === "goal" });
    this.restingSince = Date.now();
  }

  goOn(): void {
    this.restingSince = null;
    this.write({ since_break_ms: 0 });
  }

  /** As it stands now: another page may have added to it, and time away may have made it a new one. */
  private read(): Stored {
    const { storage, key, goal } = this.options;
    const stored = readJson<Stored>(storage, key);
    const away = stored ? Date.now() - stored.last : Infinity;
    if (!stored || away >= AWAY_MS) {
      return { last: Date.now(), worked_ms: 0, since_break_ms: 0, done: 0, goal: stored?.goal ?? goal, goal_seen: false };
    }
    return away >= BREAK_MS ? { ...stored, since_break_ms: 0 } : stored;
  }

  private write(changes: Partial<Stored>): void {
    const stored = this.read();
    const ms = this.unwrittenMs;
    this.unwrittenMs = 0;
    const added = { worked_ms: stored.worked_ms + ms, since_break_ms: stored.since_break_ms + ms };
    this.options.storage.set(this.options.key, JSON.stringify({ ...stored, ...added, last: Date.now(), ...changes }));
  }
}
