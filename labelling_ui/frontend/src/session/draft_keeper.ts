import type { Api } from "../api/endpoints";
import { ApiError } from "../api/call";
import type { StoredDraft, Task } from "../api/types";
import { Backoff } from "../outbox/backoff";
import { readJson, type Storage } from "../outbox/storage";
import { parseDraft, type DraftBody } from "../state/draft";

/** Two drafts of one solution that know nothing of each other. The person chooses. */
export interface Conflict {
  mine: DraftBody;
  theirs: DraftBody;
  theirVersion: number;
}

/**
 * "saving" from the first change until the server has it; "unreachable" once an attempt has failed;
 * "local" when the server takes no more drafts of this lease, so that only this browser has it.
 */
export type Saving = "saved" | "saving" | "unreachable" | "signed_out" | "local";

interface LocalDraft {
  version: number;
  /** True while the server does not have this body. */
  dirty: boolean;
  /** The own revision that was being revised; absent for none. */
  based_on?: number;
  body: DraftBody;
}

export interface KeeperOptions {
  storage: Storage;
  prefix: string;
  api: Pick<Api, "saveDraft">;
  /** The own revision that is being revised, with what it says; null where the work is new. */
  revised: { revision: number; said: DraftBody } | null;
  onChange: () => void;
}

const SAVE_AFTER_MS = 2_000;
const RETRY_AFTER_MS = 5_000;

/**
 * Keeps the draft of one lease: in the browser at every change, on the server every two seconds.
 * `version` is the stored version this page has seen; where the server's moved on, both are kept.
 */
export class DraftKeeper {
  saving: Saving = "saved";
  conflict: Conflict | null = null;
  private version = 0;
  private body: DraftBody | null = null;
  /** `edited_at` of all that was sent: an answer may get lost, and what the server has is then ours. */
  private readonly sent = new Set<string>();
  private readonly backoff = new Backoff(RETRY_AFTER_MS);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private inFlight = false;
  private closed = false;

  constructor(
    private readonly lease: number,
    private readonly options: KeeperOptions,
  ) {}

  /** The draft to go on with: the server's, the browser's, the revised label, or none. May leave a conflict to settle. */
  open(task: Task): DraftBody | null {
    const local = readJson<LocalDraft>(this.options.storage, this.key);
    const mine = local ? parseDraft(local.body) : null;
    const theirs = (task.draft ? parseDraft(task.draft.body) : null) ?? this.options.revised?.said ?? null;
    this.version = task.draft?.version ?? 0;
    if (!local || !mine) return theirs;
    if ((local.based_on ?? 0) !== this.basedOn && theirs) {
      // What was typed here before the label was handed in elsewhere.
      this.conflict = { mine, theirs, theirVersion: this.version };
      return mine;
    }
    if (local.version >= this.version || !theirs || theirs.edited_at === mine.edited_at) {
      if (local.dirty) this.keep(mine);
      return mine;
    }
    if (!local.dirty) return theirs;
    this.conflict = { mine, theirs, theirVersion: this.version };
    this.version = local.version;
    return mine;
  }

  /** Something the person did. */
  keep(body: DraftBody): void {
    this.body = body;
    if (this.saving === "saved") this.saving = "saving";
    this.write(true);
    this.schedule(SAVE_AFTER_MS);
    this.options.onChange();
  }

  /** Only time went by: not worth a request, and it travels with the next change. */
  keepTime(body: DraftBody): void {
    const local = readJson<LocalDraft>(this.options.storage, this.key);
    if (local) this.write(local.dirty, body);
    if (this.body) this.body = body;
  }

  /** Takes one of the two drafts; gives the one to go on with. */
  settle(choice: "mine" | "theirs"): DraftBody | null {
    const conflict = this.conflict;
    if (!conflict) return null;
    this.conflict = null;
    this.version = conflict.theirVersion;
    if (choice === "mine") {
      this.keep(this.body ?? conflict.mine);
      return this.body;
    }
    this.body = null;
    clearTimeout(this.timer);
    this.options.storage.remove(this.key);
    this.saving = "saved";
    this.options.onChange();
    return conflict.theirs;
  }

  async saveNow(): Promise<void> {
    clearTimeout(this.timer);
    const body = this.body;
    if (!body || this.conflict || this.inFlight || this.closed) return;
    this.inFlight = true;
    this.sent.add(body.edited_at);
    try {
      const stored = await this.options.api.saveDraft(this.lease, this.version, body, this.basedOn);
      if (this.closed) return;
      this.backoff.reset();
      this.version = stored.version;
      const changedMeanwhile = this.body !== body;
      if (!changedMeanwhile) this.body = null;
      this.write(changedMeanwhile, this.body ?? body);
      this.become(changedMeanwhile ? "saving" : "saved");
      if (changedMeanwhile) this.schedule(SAVE_AFTER_MS);
    } catch (error) {
      if (!this.closed) this.failed(error);
    } finally {
      this.inFlight = false;
    }
  }

  /** The work is in the outbox or given up: the draft is not needed any more. */
  discard(): void {
    this.stop();
    this.options.storage.remove(this.key);
  }

  /** Stops saving; what is written down stays. */
  stop(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  private get basedOn(): number {
    return this.options.revised?.revision ?? 0;
  }

  private get key(): string {
    return this.options.prefix + this.lease;
  }

  private failed(error: unknown): void {
    if (!(error instanceof ApiError) || error.temporary || error.signedOut) {
      this.schedule(this.backoff.next());
      return this.become(error instanceof ApiError && error.signedOut ? "signed_out" : "unreachable");
    }
    if (error.code === "draft_conflict" && this.body) return this.differ(error.extra as StoredDraft, this.body);
    this.become("local");
  }

  private differ(stored: StoredDraft, mine: DraftBody): void {
    const theirs = parseDraft(stored.body);
    const foreign = theirs && !this.sent.has(theirs.edited_at);
    if (foreign) this.conflict = { mine, theirs, theirVersion: stored.version };
    else {
      this.version = stored.version;
      this.schedule(SAVE_AFTER_MS);
    }
    this.become("saving");
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    if (!this.closed) this.timer = setTimeout(() => void this.saveNow(), ms);
  }

  private write(dirty: boolean, body = this.body): void {
    if (!body) return;
    const local: LocalDraft = { version: this.version, dirty, based_on: this.basedOn, body };
    this.options.storage.set(this.key, JSON.stringify(local));
  }

  private become(saving: Saving): void {
    this.saving = saving;
    this.options.onChange();
  }
}
