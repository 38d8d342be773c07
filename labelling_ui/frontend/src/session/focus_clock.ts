/** Time that counts: while the page is in front of the person, and until their hand has rested for too long. */
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

  /** The person has done something that shows them at work. */
  moved(): void {
    this.sync();
    this.movedAt = this.now();
  }

  /** Milliseconds since the person last did something. */
  rested(): number {
    return this.now() - this.movedAt;
  }

  /** Milliseconds that counted since the last take. */
  take(): number {
    this.sync();
    const ms = this.saved;
    this.saved = 0;
    return ms;
  }
}
