import type { Api } from "../api/endpoints";
import type { Task } from "../api/types";
import { failure, LOADING, type Source, type Work } from "./source";
import type { Idle } from "./view";

const RETRY_MS = 5_000;
const REVISED: Idle = { kind: "revised", message: "", retryAt: null };

export interface OwnLabelOptions {
  api: Pick<Api, "ownWork">;
  solution: number;
  onTask: (task: Task) => void;
  onChange: () => void;
}

/** One label of the person's own, opened to be changed; there is never another after it. */
export class OwnLabelSource implements Source {
  idle: Idle = LOADING;
  readonly next = null;
  private work: Work | null = null;
  private state: "wanted" | "asked" | "given" = "wanted";
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: OwnLabelOptions) {}

  take(): Work | null {
    const { work } = this;
    this.work = null;
    if (!work) this.idle = REVISED;
    return work;
  }

  async refill(): Promise<void> {
    if (this.state !== "wanted") return;
    this.state = "asked";
    try {
      const { task, submitted } = await this.options.api.ownWork(this.options.solution);
      this.state = "given";
      this.work = { task, label: submitted };
      this.options.onTask(task);
    } catch (error) {
      this.state = "wanted";
      this.idle = failure(error);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.refill(), RETRY_MS);
    }
    this.options.onChange();
  }
}
