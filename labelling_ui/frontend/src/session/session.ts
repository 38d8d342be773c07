import { ApiError } from "../api/call";
import type { Api } from "../api/endpoints";
import type { OwnLabel, Progress, Task } from "../api/types";
import { randomId, Outbox } from "../outbox/outbox";
import type { Storage } from "../outbox/storage";
import { toDraft, withDraft } from "../state/draft";
import type { Action, State } from "../state/model";
import { reduce, startState } from "../state/reducer";
import { asDraft } from "../state/revision";
import { toSubmission } from "../state/submission";
import { DraftKeeper, type Saving } from "./draft_keeper";
import type { Idle, View } from "./view";

export interface SessionOptions {
  api: Api;
  storage: Storage;
  /** Separates people and projects that share a browser. */
  scope: string;
  /** The solution whose label is opened to be changed; null where the queue is worked through. */
  revise: number | null;
  onView: (view: View) => void;
  /** Called with a task as soon as it is in hand, so that it can be typeset before it is shown. */
  onPrefetched: (task: Task) => void;
}

const RETRY_CLAIM_MS = 5_000;
const LOOK_AGAIN_MS = 60_000;
const REVISED: Idle = { kind: "revised", message: "", retryAt: null };
const LOADING: Idle = { kind: "loading", message: "", retryAt: null };

interface Hand {
  task: Task;
  state: State;
  keeper: DraftKeeper;
  /** The own revision that the work began with, 0 for none. */
  basedOn: number;
  /** When the person last changed the work, ISO 8601; it also tells one draft from another. */
  editedAt: string;
}

/** Keeps a solution in front of the person and the next one in hand; knows nothing of the page. */
export class Session {
  private hand: Hand | null = null;
  private next: Task | null = null;
  private idle: Idle = LOADING;
  private progress: Progress | null = null;
  private leaseEnded: string | null = null;
  private notice = "";
  private claiming = false;
  private claimAgain = false;
  private claimTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly outbox: Outbox;
  private readonly page = randomId();

  constructor(private readonly options: SessionOptions) {
    this.outbox = new Outbox({
      storage: options.storage,
      prefix: `stepmark:outbox:${options.scope}:`,
      send: (submission) => options.api.submit(submission),
      onChange: () => this.show(),
      onDelivered: () => {
        void this.refreshProgress();
        void this.refill();
      },
    });
  }

  start(): void {
    this.show();
    void this.refreshProgress();
    void this.outbox.flush();
    void this.refill();
  }

  /** The network or the sign-in may be back: try everything that waits. */
  wake(): void {
    this.save();
    void this.refill();
  }

  /** The page may be gone in a moment: send what is not sent yet. */
  save(): void {
    void this.outbox.flush();
    void this.hand?.keeper.saveNow();
  }

  /** Applies actions as one: the page is shown once, after the last. */
  dispatch(...actions: Action[]): void {
    const { hand } = this;
    if (!hand) return;
    const before = hand.state;
    hand.state = actions.reduce(reduce, before);
    if (hand.state === before) return;
    if (hand.state.work !== before.work) {
      this.notice = "";
      hand.editedAt = new Date().toISOString();
      hand.keeper.keep(toDraft(hand.state, hand.editedAt));
    } else hand.keeper.keepTime(toDraft(hand.state, hand.editedAt));
    this.show();
  }

  /** Hands the work in and shows the next solution at once; false while something is missing. */
  submit(): boolean {
    const { hand } = this;
    const submission = hand && toSubmission(hand.task, hand.state, randomId(), hand.basedOn);
    if (!hand || !submission) return false;
    this.outbox.put(submission);
    hand.keeper.discard();
    this.takeNext();
    void this.outbox.flush();
    if (!this.hand) void this.refill();
    return true;
  }

  async skip(reason: string): Promise<void> {
    const { hand } = this;
    if (!hand) return;
    try {
      await this.options.api.release(hand.task.lease.id, reason);
    } catch (error) {
      this.notice = messageOf(error);
      return this.show();
    }
    if (this.hand !== hand) return;
    hand.keeper.discard();
    this.takeNext();
    void this.refill();
  }

  settle(choice: "mine" | "theirs"): void {
    const { hand } = this;
    const draft = hand?.keeper.settle(choice);
    if (!hand || !draft) return;
    if (choice === "theirs") {
      hand.state = withDraft(startState(hand.task), draft);
      hand.editedAt = draft.edited_at;
    }
    this.show();
  }

  dismiss(submissionId: string): void {
    this.outbox.dismiss(submissionId);
  }

  /** Between finished work and a newer version of it that the server has. */
  choose(submissionId: string, choice: "mine" | "theirs"): void {
    this.outbox.choose(submissionId, choice);
  }

  /** Another tab has written something down or taken it away. */
  look(): void {
    this.show();
  }

  /** Tells the server that the solutions in hand are still wanted. */
  async heartbeat(): Promise<void> {
    const { hand, next } = this;
    if (this.options.revise !== null) return;
    const ended = hand && (await this.beat(hand.task));
    if (this.hand === hand) this.leaseEnded = ended;
    if (next && (await this.beat(next)) !== null && this.next === next) {
      this.next = null;
      void this.refill();
    }
    this.show();
  }

  /** Null while the lease holds or nothing is known, else what the server says of its end. */
  private async beat(task: Task): Promise<string | null> {
    try {
      await this.options.api.heartbeat(task.lease.id);
    } catch (error) {
      if (error instanceof ApiError && !error.temporary && !error.signedOut) return error.message;
    }
    return null;
  }

  private takeNext(): void {
    this.hand?.keeper.stop();
    const { next } = this;
    this.hand = null;
    this.next = null;
    this.leaseEnded = null;
    this.notice = "";
    if (next) this.open(next);
    else this.idle = this.options.revise === null ? LOADING : REVISED;
    this.show();
  }

  private open(task: Task, label: OwnLabel | null = null): void {
    const { storage, api, scope } = this.options;
    const keeper = new DraftKeeper(task.lease.id, {
      storage,
      api,
      prefix: `stepmark:draft:${scope}:`,
      page: this.page,
      revised: label && { revision: label.revision, said: asDraft(task, label) },
      onChange: () => this.show(),
    });
    const draft = keeper.open(task);
    const fresh = startState(task);
    const state = draft ? withDraft(fresh, draft) : fresh;
    this.hand = { task, keeper, state, editedAt: draft?.edited_at ?? "", basedOn: label?.revision ?? 0 };
  }

  /** Claims until a solution is on the screen and the next in hand, or the server says that is all. */
  private async refill(): Promise<void> {
    if (this.claiming) {
      this.claimAgain = true;
      return;
    }
    this.claiming = true;
    clearTimeout(this.claimTimer);
    do this.claimAgain = false;
    while ((await this.claimOne()) || this.claimAgain);
    this.claiming = false;
    this.show();
  }

  /** True when there is reason to claim another. */
  private async claimOne(): Promise<boolean> {
    if (this.options.revise !== null) return this.openOwn(this.options.revise);
    if (this.hand && this.next) return false;
    const holding = this.held();
    let claim;
    try {
      claim = await this.options.api.claim(holding);
    } catch (error) {
      return this.notNow(error);
    }
    const { task } = claim;
    if (!task) {
      const sending = this.outbox.waiting().length > 0 && claim.reason === "holding_enough";
      this.idle = {
        kind: sending ? "sending" : (claim.reason ?? "done"),
        message: claim.message,
        retryAt: claim.retry_at,
      };
      if (!this.hand) this.lookAgainIn(claim.retry_at ? Date.parse(claim.retry_at) - Date.now() : LOOK_AGAIN_MS);
      return false;
    }
    if (this.held().includes(task.lease.id)) return false;
    if (this.hand) this.next = task;
    else this.open(task);
    this.options.onPrefetched(task);
    this.show();
    return true;
  }

  /** Opens a label of the person's own; there is never reason to open another. */
  private async openOwn(solution: number): Promise<false> {
    if (this.hand || this.idle === REVISED) return false;
    try {
      const { task, submitted } = await this.options.api.ownWork(solution);
      this.open(task, submitted);
      this.options.onPrefetched(task);
    } catch (error) {
      return this.notNow(error);
    }
    return false;
  }

  private notNow(error: unknown): false {
    const kind = !(error instanceof ApiError) || error.temporary ? "unreachable" : "refused";
    this.idle = {
      kind: error instanceof ApiError && error.signedOut ? "signed_out" : kind,
      message: messageOf(error),
      retryAt: null,
    };
    this.lookAgainIn(RETRY_CLAIM_MS);
    return false;
  }

  private held(): number[] {
    const sent = this.outbox.waiting().map((entry) => entry.submission.lease);
    return [this.hand?.task.lease.id, this.next?.lease.id, ...sent].filter((id) => id != null);
  }

  private lookAgainIn(ms: number): void {
    clearTimeout(this.claimTimer);
    const wait = Math.min(Math.max(ms, RETRY_CLAIM_MS), LOOK_AGAIN_MS);
    this.claimTimer = setTimeout(() => void this.refill(), wait);
  }

  private async refreshProgress(): Promise<void> {
    try {
      this.progress = await this.options.api.progress();
      this.show();
    } catch {
      // The header goes without its numbers; whatever is wrong shows where work would be lost by it.
    }
  }

  private show(): void {
    const { hand, outbox } = this;
    this.options.onView({
      task: hand?.task ?? null,
      state: hand?.state ?? null,
      nextInHand: this.next !== null,
      idle: this.idle,
      saved: this.saved(),
      durable: outbox.durable,
      waiting: outbox.waiting().length,
      trouble: outbox.trouble,
      revising: this.options.revise !== null,
      refused: outbox.refused(),
      conflict: hand?.keeper.conflict ?? null,
      progress: this.progress,
      leaseEnded: this.leaseEnded,
      notice: this.notice,
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
