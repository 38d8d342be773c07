/** Time that counts: only while the page is in front of the person. */
export class FocusClock {
  private since: number | null = null;
  private saved = 0;

  constructor(
    private readonly now: () => number,
    private readonly focused: () => boolean,
  ) {
    this.sync();
  }

  /** Call when the focus may have changed. */
  sync(): void {
    const now = this.now();
    if (this.since !== null) this.saved += now - this.since;
    this.since = this.focused() ? now : null;
  }

  /** Milliseconds that counted since the last take. */
  take(): number {
    this.sync();
    const ms = this.saved;
    this.saved = 0;
    return ms;
  }
}
