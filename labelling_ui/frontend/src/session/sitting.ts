import { readJson, type Storage } from "../storage/storage";

const MINUTE = 60_000;
/** After this much time away, a new sitting begins. */
const AWAY_MS = 30 * MINUTE;
/** This much time without work counts as a break. */
const BREAK_MS = 5 * MINUTE;
const WRITE_EVERY_MS = 5_000;
/** "Not now" postpones the proposal of a break by this much. */
const PUT_OFF_MS = 15 * MINUTE;

interface Stored {
  /** When work was last done, milliseconds since 1970. */
  last: number;
  worked_ms: number;
  since_break_ms: number;
  done: number;
  /** Solutions; 0 for none. */
  goal: number;
  /** Whether the person has seen that the goal is reached. */
  goal_seen: boolean;
}

/** The state of a sitting, as the page shows it. */
export interface SittingView {
  done: number;
  goal: number;
  workedMs: number;
  /** A message due now: the goal is reached, or it is time for a break. */
  proposal: "goal" | "break" | null;
  /** Start of the current break, milliseconds since 1970. */
  restingSince: number | null;
}

interface SittingOptions {
  storage: Storage;
  key: string;
  /** Milliseconds of work after which a break is proposed; 0 for never. */
  breakAfterMs: number;
  /** The initial goal. */
  goal: number;
}

/** One sitting, over all pages of this browser: work done, the goal, and breaks. */
export class Sitting {
  private restingSince: number | null = null;
  /** Time not stored yet. */
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

  /** Adds active time. */
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

  /** Dismisses the proposal. */
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

  /** The current sitting: another page may have added to it, and time away may have ended it. */
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
