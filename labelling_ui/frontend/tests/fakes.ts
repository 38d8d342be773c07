import type { Api } from "../src/api/endpoints";
import { ApiError, NetworkError } from "../src/api/call";
import type { Claim, OwnLabel, StoredDraft, Submission, Task } from "../src/api/types";
import type { Guidelines } from "../src/config";
import type { Storage } from "../src/storage/storage";

/** A storage that cannot fail, shared by the pages that use it. */
export function memoryStorage(): Storage & { map: Map<string, string> } {
  const map = new Map<string, string>();
  return {
    map,
    get: (key) => map.get(key) ?? null,
    set: (key, value) => void map.set(key, value),
    remove: (key) => void map.delete(key),
    keys: (prefix) => [...map.keys()].filter((key) => key.startsWith(prefix)).sort(),
    survives: () => true,
  };
}

/** A server with the API's rules of claiming, submitting and drafts, which can be disconnected. */
export class FakeServer implements Api {
  online = true;
  signedIn = true;
  readonly accepted = new Map<string, Submission>();
  readonly drafts = new Map<number, StoredDraft>();
  readonly released: { lease: number; reason: string }[] = [];
  readonly endedLeases = new Set<number>();
  calls: string[] = [];
  guidelinesNow: Guidelines = { version: 0, text: "", examples: [] };
  /** The model's scores by position, of every solution with a hint. */
  scores: number[] = [];
  private readonly active: Task[] = [];
  private readonly given: Task[] = [];

  constructor(
    private readonly queue: Task[],
    private readonly prefetchDepth = 1,
  ) {}

  private answer(call: string): void {
    this.calls.push(call);
    if (!this.online) throw new NetworkError("The server cannot be reached.");
    if (!this.signedIn) throw new ApiError(403, "not_authenticated", "Sign in.", null);
  }

  private end(lease: number | null): void {
    const index = this.active.findIndex((task) => task.lease.id === lease);
    if (index >= 0) this.active.splice(index, 1);
  }

  async claim(holding: number[]): Promise<Claim> {
    this.answer("claim");
    return this.next(holding);
  }

  private next(holding: number[]): Claim {
    const none = { task: null, message: "", retry_at: null };
    const mine = this.active.find((task) => !holding.includes(task.lease.id));
    if (mine) return this.give(mine);
    if (this.active.length > this.prefetchDepth) return { ...none, reason: "holding_enough" };
    const task = this.queue.shift();
    if (!task) return { ...none, reason: "done", message: "All done." };
    this.active.push(task);
    this.given.push(task);
    return this.give(task);
  }

  private give(task: Task): Claim {
    const draft = this.drafts.get(task.lease.id) ?? null;
    return { task: { ...task, guidelines: this.guidelinesNow.version, draft }, reason: null, message: "", retry_at: null };
  }

  async guidelines(): Promise<Guidelines> {
    this.answer("guidelines");
    return this.guidelinesNow;
  }

  async heartbeat(lease: number) {
    this.answer("heartbeat");
    if (this.endedLeases.has(lease)) throw new ApiError(409, "lease_ended", "It ended.", null);
    return { expires_at: "2030-01-01T00:00:00Z" };
  }

  async release(lease: number, reason: string) {
    this.answer("release");
    if ([...this.accepted.values()].some((one) => one.lease === lease)) {
      throw new ApiError(409, "lease_ended", "You have already submitted this solution.", null);
    }
    if (this.released.some((one) => one.lease === lease)) return;
    this.released.push({ lease, reason });
    this.end(lease);
  }

  /** The person's latest revision on a solution. */
  private latest(solution: number): Submission | undefined {
    return [...this.accepted.values()].filter((one) => one.solution === solution).at(-1);
  }

  async ownWork(solution: number) {
    this.answer("ownWork");
    const latest = this.latest(solution);
    const task = latest && this.given.find((one) => one.lease.id === latest.lease);
    if (!task) throw new ApiError(404, "not_labelled", "You have handed in nothing.", null);
    return { task: { ...task, draft: this.drafts.get(task.lease.id) ?? null }, submitted: asLabel(latest), sent_back: null };
  }

  async saveDraft(lease: number, version: number, body: StoredDraft["body"]) {
    this.answer("saveDraft");
    const stored = this.drafts.get(lease);
    if (stored && version !== stored.version) {
      throw new ApiError(409, "draft_conflict", "Edited elsewhere.", stored);
    }
    this.drafts.set(lease, { version: version + 1, body });
    return { version: version + 1, saved_at: "2026-01-01T00:00:00Z" };
  }

  async hintScore(lease: number, position: number) {
    this.answer(`hintScore ${lease} ${position}`);
    const score = this.scores[position];
    if (score === undefined) throw new ApiError(404, "hint_not_found", "There is no hint for this step.", null);
    return { score };
  }

  async submit(submission: Submission, holding?: number[]) {
    this.answer("submit");
    const latest = this.latest(submission.solution);
    const revision = latest ? latest.based_on + 1 : 0;
    if (submission.based_on < revision && !this.accepted.has(submission.submission_id)) {
      const extra = { revision, latest: asLabel(latest!), submitted: submission };
      throw new ApiError(409, "revision_conflict", "You handed it in elsewhere.", extra);
    }
    this.accepted.set(submission.submission_id, submission);
    this.drafts.delete(submission.lease ?? 0);
    this.end(submission.lease);
    const receipt = { id: this.accepted.size, revision: submission.based_on + 1, counted: true, first_error: -1 };
    return holding ? { ...receipt, next: this.next(holding) } : receipt;
  }

  async progress() {
    this.answer("progress");
    return { today: this.accepted.size, total: this.accepted.size, median_seconds: null, sent_back: 0, screening: null };
  }
}

function asLabel(submission: Submission): OwnLabel {
  return { ...submission, revision: submission.based_on + 1, submitted_at: "2026-01-01T09:00:00Z" };
}
