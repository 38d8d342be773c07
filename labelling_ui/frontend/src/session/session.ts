import type { Api } from "../api/endpoints";
import type { Claim, Progress, Task } from "../api/types";
import type { Config, Guidelines } from "../config";
import { deliver, type Ending, leaseOf, Outbox, randomId } from "../outbox/outbox";
import type { Storage } from "../storage/storage";
import type { Action } from "../state/model";
import { toSubmission } from "../state/submission";
import type { Saving } from "./draft_keeper";
import { Hand } from "./hand";
import { Leases } from "./leases";
import { OwnLabelSource, QueueSource, type Source } from "./sources";
import { Sitting } from "./sitting";
import type { View } from "./view";

interface SessionOptions extends Pick<Config, "guidelines" | "revise" | "prefetchDepth" | "leaseMinutes"> {
  api: Api;
  storage: Storage;
  /** Separates people and projects that share a browser. */
  scope: string;
  pace: Omit<Config["pace"], "idleSeconds">;
  onView: (view: View) => void;
  /** Called with each task as soon as it arrives, so that it can be typeset before it is shown. */
  onPrefetched: (task: Task) => void;
}

const PROGRESS_AGAIN_MS = 15_000;

/** Shows one solution and prefetches others; independent of the page. */
export class Session {
  private hand: Hand | null = null;
  private progress: Progress | null = null;
  private leaseEnded: string | null = null;
  private guidelines: Guidelines;
  private guidelinesChanged = false;
  private waitingShown = 0;
  private progressAsked = 0;
  /** Groups several changes into one redraw. */
  private amidst = false;
  private progressTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly outbox: Outbox;
  private readonly leases: Leases;
  private readonly sitting: Sitting;
  private readonly queue: QueueSource | null;
  private readonly source: Source;
  private readonly page = randomId();

  constructor(private readonly options: SessionOptions) {
    const { api, storage, scope, revise, pace } = options;
    this.guidelines = options.guidelines;
    this.leases = new Leases(api, 60_000 * options.leaseMinutes);
    this.sitting = new Sitting({
      storage,
      key: `stepmark:sitting:${scope}`,
      breakAfterMs: 60_000 * pace.breakAfterMinutes,
      goal: pace.goal,
    });
    this.outbox = new Outbox({
      storage,
      prefix: `stepmark:outbox:${scope}:`,
      send: (ending, retried) => this.send(ending, retried),
      onChange: () => this.show(),
      onDelivered: (_ending, next) => this.delivered(next),
    });
    const hearing = { api, onTask: (task: Task) => this.arrived(task), onChange: () => this.show() };
    this.queue = revise !== null ? null : new QueueSource({
      ...hearing,
      depth: options.prefetchDepth,
      held: () => [this.hand?.task.lease.id, ...this.outbox.waiting().map(leaseOf)].filter((lease) => lease != null),
      busy: () => this.hand !== null,
      sending: () => this.outbox.waiting().length > 0,
    });
    this.source = this.queue ?? new OwnLabelSource({ ...hearing, solution: revise! });
  }

  start(): void {
    this.show();
    void this.refreshProgress();
    void this.outbox.flush();
    void this.source.refill();
  }

  /** Retries everything that waits, since the network or the sign-in may be back. */
  wake(): void {
    this.save();
    void this.hand?.fetchHints();
    void this.source.refill();
  }

  /** Sends unsent work at once, since the page may close. */
  save(): void {
    void this.outbox.flush();
    void this.hand?.keeper.saveNow();
  }

  /** Applies actions as one: the page is redrawn once, after the last. */
  dispatch(...actions: Action[]): void {
    const { hand } = this;
    if (!hand) return;
    const changed = this.unshown(() => hand.act(actions));
    this.sitting.spend(actions.reduce((ms, action) => ms + (action.type === "spend" ? action.ms : 0), 0));
    if (changed) this.show();
  }

  /** Submits the work and shows the next solution at once; false while something is missing. */
  submit(): boolean {
    const { hand } = this;
    const submission = hand && toSubmission(hand.task, hand.state, randomId(), hand.basedOn);
    if (!submission) return false;
    this.end({ submission: { ...submission, guidelines: this.guidelines.version } });
    return true;
  }

  /** Skips the solution with a reason and shows the next at once. */
  skip(reason: string): void {
    if (!this.hand) return;
    const { task, draft } = this.hand;
    this.end({ skip: { lease: task.lease.id, solution: task.solution.id, reason, draft } });
  }

  /** Stores the ending of the work before its draft is deleted. */
  private end(ending: Ending): void {
    this.unshown(() => {
      this.outbox.put(ending);
      if (this.queue && "submission" in ending) this.sitting.finished();
      this.hand?.keeper.discard();
      this.takeNext();
      void this.outbox.flush();
    });
    this.show();
    if (!this.hand) void this.source.refill();
  }

  settle(choice: "mine" | "theirs"): void {
    this.hand?.settle(choice);
    this.show();
  }

  /** Dismisses the notice about parts that no longer fit. */
  understood(): void {
    if (this.hand) this.hand.moved = [];
    this.show();
  }

  /** Dismisses the notice about changed guidelines. */
  readGuidelines(): void {
    this.guidelinesChanged = false;
    this.show();
  }

  dismiss(id: string): void {
    this.outbox.dismiss(id);
  }

  /** Sends refused work again. */
  retry(id: string): void {
    this.outbox.retry(id);
  }

  /** Chooses between finished work and the server's newer version of it. */
  choose(submissionId: string, choice: "mine" | "theirs"): void {
    this.outbox.choose(submissionId, choice);
  }

  /** Another tab has changed stored entries, or the storage itself changed. */
  look(): void {
    if (this.outbox.waiting().length < this.waitingShown) this.delivered();
    this.show();
  }

  /** Sets the goal of this sitting, in solutions; 0 for none. */
  aim(goal: number): void {
    this.sitting.aim(goal);
    this.show();
  }

  /** Dismisses the proposal. */
  putOff(): void {
    this.sitting.putOff();
    this.show();
  }

  /** Starts a break: the solution stays leased until its lease expires. */
  rest(): void {
    this.sitting.rest();
    this.save();
    this.show();
  }

  /** Whether a break is on. */
  get resting(): boolean {
    return this.sitting.resting;
  }

  goOn(): void {
    this.sitting.goOn();
    void this.heartbeat();
    this.show();
  }

  /** Sends heartbeats for the solutions in hand. */
  async heartbeat(): Promise<void> {
    const { hand, queue } = this;
    if (!queue) return;
    const ended = hand && (await this.leases.renew(hand.task.lease.id));
    if (this.hand === hand) this.leaseEnded = ended;
    void hand?.fetchHints();
    for (const lease of queue.leases) if ((await this.leases.renew(lease)) !== null) queue.drop(lease);
    void queue.refill();
    this.show();
  }

  /** A retry claims nothing, so that finished work never waits for a claim that fails. */
  private send(ending: Ending, retried: boolean): Promise<Claim | null> {
    const { queue, options: { api } } = this;
    if (!queue || retried) return deliver(api, ending);
    return deliver({ release: api.release, submit: (submission) => queue.submit(submission) }, ending);
  }

  /** Called when the server has received finished work, from here or from another page, with the next task if known. */
  private delivered(next: Claim | null = null): void {
    void this.refreshProgress();
    if (!next || this.queue?.receive(next)) void this.source.refill();
  }

  private arrived(task: Task): void {
    if (this.queue) this.leases.begin(task.lease.id);
    if (!this.hand) this.takeNext();
    else this.show();
    this.options.onPrefetched(task);
  }

  private takeNext(): void {
    this.hand?.leave();
    if (this.hand) this.leases.forget(this.hand.task.lease.id);
    const { storage, api, scope } = this.options;
    const next = this.source.take();
    const onChange = () => this.show();
    this.hand = next && new Hand(next.task, next.label, { storage, api, scope, page: this.page, onChange });
    this.leaseEnded = null;
    this.show();
    if (next && next.task.guidelines > this.guidelines.version) void this.refreshGuidelines();
  }

  /** Shows the current guidelines instead of older ones; at the next solution again if the server cannot be reached. */
  private async refreshGuidelines(): Promise<void> {
    try {
      this.guidelines = await this.options.api.guidelines();
    } catch {
      return; // submissions state the version that is still shown
    }
    this.guidelinesChanged = true;
    this.show();
  }

  private async refreshProgress(): Promise<void> {
    clearTimeout(this.progressTimer);
    const asked = ++this.progressAsked;
    try {
      const progress = await this.options.api.progress();
      if (asked < this.progressAsked) return; // an answer to an earlier request may arrive later
      this.progress = progress;
      this.show();
    } catch {
      // The header keeps its old numbers; errors show elsewhere, where work could be lost.
      this.progressTimer = setTimeout(() => void this.refreshProgress(), PROGRESS_AGAIN_MS);
    }
  }

  /** Runs steps that would otherwise redraw the page several times; the caller redraws it afterwards. */
  private unshown<T>(work: () => T): T {
    this.amidst = true;
    try {
      return work();
    } finally {
      this.amidst = false;
    }
  }

  private show(): void {
    if (this.amidst) return;
    const { hand, outbox, source } = this;
    this.waitingShown = outbox.waiting().length;
    this.options.onView({
      task: hand?.task ?? null,
      state: hand?.state ?? null,
      next: source.next,
      idle: source.idle,
      saved: this.saved(),
      durable: this.options.storage.survives("stepmark:"),
      waiting: this.waitingShown,
      trouble: outbox.trouble,
      revising: this.options.revise !== null,
      refused: outbox.refused(),
      conflict: hand?.keeper.conflict ?? null,
      progress: this.progress,
      leaseEnded: this.leaseEnded,
      heldUntil: hand && this.leases.endOf(hand.task.lease.id),
      sitting: this.sitting.view(),
      notice: "",
      guidelines: this.guidelines,
      guidelinesChanged: this.guidelinesChanged,
      moved: hand?.moved ?? [],
      practice: null,
    });
  }

  private saved(): Saving {
    const draft = this.hand?.keeper.saving ?? "saved";
    const { delivery } = this.outbox;
    if (delivery === "signed_out" || draft === "signed_out") return "signed_out";
    if (delivery === "unreachable" || draft === "unreachable") return "unreachable";
    return delivery === "sending" ? "saving" : draft;
  }
}

/** What the page needs of its session. Practice has no queue, lease, draft or sitting. */
export type Desk = Pick<Session, "dispatch" | "submit" | "wake" | "resting"> &
  Partial<Pick<Session, "skip" | "heartbeat" | "settle" | "understood" | "readGuidelines" | "dismiss" | "retry" | "choose" | "aim" | "putOff" | "rest" | "goOn">>;
