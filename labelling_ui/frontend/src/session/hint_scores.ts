import type { Api } from "../api/endpoints";

interface Options {
  api: Pick<Api, "hintScore">;
  /** The positions whose score is due, the most urgent first. */
  missing: () => number[];
  onScore: (position: number, score: number) => void;
}

/**
 * Fetches the scores of one solution from the server, each once it is due and one at a time, so that what was seen has
 * an order. A step that is left again before its turn gets no score: it would be of no use any more.
 */
export class HintScores {
  private running = false;
  /** Asked for again while a fetch was under way, which may fail for a step of before. */
  private again = false;
  private closed = false;

  constructor(
    private readonly lease: number,
    private readonly options: Options,
  ) {}

  /** Fetches what is due, and ends at a failure: work goes on without a hint until this is called again. */
  async fetch(): Promise<void> {
    this.again = true;
    if (this.running) return;
    this.running = true;
    while (this.again) {
      this.again = false;
      await this.fetchAll();
    }
    this.running = false;
  }

  private async fetchAll(): Promise<void> {
    try {
      for (let next = this.next(); next !== undefined; next = this.next()) {
        const { score } = await this.options.api.hintScore(this.lease, next);
        if (!this.closed) this.options.onScore(next, score);
      }
    } catch {
      // Whatever is wrong shows where work would be lost by it.
    }
  }

  close(): void {
    this.closed = true;
  }

  private next(): number | undefined {
    return this.closed ? undefined : this.options.missing()[0];
  }
}
