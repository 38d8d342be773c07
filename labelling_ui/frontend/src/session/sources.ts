import { ApiError } from "../api/call";
import type { Api } from "../api/endpoints";
import type { Claim, OwnLabel, Submission, SubmissionReceipt, Task } from "../api/types";
import type { Idle } from "./view";

/** A solution to show and, for a revision, the person's own label on it. */
export interface Work {
  task: Task;
  label: OwnLabel | null;
}

/** A source of solutions. */
export interface Source {
  /** Why there is none, if known. */
  readonly idle: Idle;
  /** The prefetched next solution, if there is one. */
  readonly next: Task | null;
  /** Takes the next solution, if one is ready; the current one is finished. */
  take(): Work | null;
  /** Fetches solutions until enough are ready. */
  refill(): Promise<void>;
}

export const LOADING: Idle = { kind: "loading", message: "", retryAt: null };
const SENDING: Idle = { kind: "sending", message: "", retryAt: null };

/** Why an attempt to fetch a solution failed. */
export function failure(error: unknown): Idle {
  const kind = !(error instanceof ApiError) || error.temporary ? "unreachable" : "refused";
  return {
    kind: error instanceof ApiError && error.signedOut ? "signed_out" : kind,
    message: messageOf(error),
    retryAt: null,
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const RETRY_MS = 5_000;
const LOOK_AGAIN_MS = 60_000;

interface QueueOptions {
  api: Pick<Api, "claim" | "submit">;
  /** Number of solutions to prefetch. */
  depth: number;
  /** Leases held outside this source: of the current solution and of submissions being sent. */
  held: () => number[];
  /** Whether a solution is on the screen. */
  busy: () => boolean;
  /** Called when finished work is being sent, which makes room for another lease. */
  sending: () => boolean;
  /** Called when a solution arrives while none is on the screen. */
  onTask: (task: Task) => void;
  onChange: () => void;
}

/** The queue's solutions, prefetched in the order in which they will be shown. */
export class QueueSource implements Source {
  idle: Idle = LOADING;
  private readonly fetched: Task[] = [];
  private running = false;
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: QueueOptions) {}

  get next(): Task | null {
    return this.fetched[0] ?? null;
  }

  /** Leases of prefetched solutions. */
  get leases(): number[] {
    return this.fetched.map((task) => task.lease.id);
  }

  take(): Work | null {
    const task = this.fetched.shift();
    if (task) return { task, label: null };
    this.idle = LOADING;
    return null;
  }

  /** Drops a prefetched solution whose lease is lost. */
  drop(lease: number): void {
    const index = this.leases.indexOf(lease);
    if (index >= 0) this.fetched.splice(index, 1);
  }

  /** Claims until enough are ready, or the server has no more. */
  async refill(): Promise<void> {
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = true;
    clearTimeout(this.timer);
    do this.again = false;
    while ((await this.claimOne()) || this.again);
    this.running = false;
    this.options.onChange();
  }

  /** Sends a submission, which also claims the next solution if one more is wanted. */
  async submit(submission: Submission): Promise<SubmissionReceipt> {
    const { api } = this.options;
    if (this.running || this.full) return api.submit(submission);
    this.running = true;
    this.again = false;
    this.idle = SENDING;
    try {
      const receipt = await api.submit(submission, this.holding());
      this.running = false;
      return receipt;
    } catch (error) {
      this.running = false;
      if (this.again) void this.refill();
      throw error;
    }
  }

  private get full(): boolean {
    const { busy, depth } = this.options;
    return this.fetched.length >= depth + (busy() ? 0 : 1);
  }

  /** Whether to claim another. */
  private async claimOne(): Promise<boolean> {
    if (this.full) return false;
    try {
      return this.receive(await this.options.api.claim(this.holding()));
    } catch (error) {
      this.idle = failure(error);
      this.lookAgainIn(RETRY_MS);
      return false;
    }
  }

  /** Takes the answer to a claim; returns whether to claim another. */
  receive(claim: Claim): boolean {
    if (!claim.task) {
      this.none(claim);
      return false;
    }
    if (this.holding().includes(claim.task.lease.id)) return false;
    this.fetched.push(claim.task);
    this.options.onTask(claim.task);
    return true;
  }

  private holding(): number[] {
    return [...this.leases, ...this.options.held()];
  }

  private none({ reason, message, retry_at: retryAt }: Claim): void {
    const sending = reason === "holding_enough" && this.options.sending();
    this.idle = { kind: sending ? "sending" : (reason ?? "done"), message, retryAt };
    if (!this.options.busy()) this.lookAgainIn(retryAt ? Date.parse(retryAt) - Date.now() : LOOK_AGAIN_MS);
  }

  private lookAgainIn(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refill(), Math.min(Math.max(ms, RETRY_MS), LOOK_AGAIN_MS));
  }
}

const REVISED: Idle = { kind: "revised", message: "", retryAt: null };

interface OwnLabelOptions {
  api: Pick<Api, "ownWork">;
  solution: number;
  onTask: (task: Task) => void;
  onChange: () => void;
}

/** The person's own label to be revised; there is no next one. */
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
