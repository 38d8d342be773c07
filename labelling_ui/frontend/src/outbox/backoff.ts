const LONGEST_MS = 30_000;

/**
 * The delay before the next attempt: twice as long each time, up to half a minute. Up to half of it is random, so that
 * many pages do not all retry at the same moment.
 */
export class Backoff {
  private wait: number;

  constructor(private readonly first: number) {
    this.wait = first;
  }

  next(): number {
    const { wait } = this;
    this.wait = Math.min(wait * 2, LONGEST_MS);
    return wait * (0.5 + 0.5 * Math.random());
  }

  reset(): void {
    this.wait = this.first;
  }
}
