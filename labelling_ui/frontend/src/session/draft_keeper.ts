import { ApiError } from "../api/call";
import type { Api } from "../api/endpoints";
import type { StoredDraft, Task } from "../api/types";
import { Backoff } from "../outbox/backoff";
import { type DraftBody, parseDraft } from "../state/draft";
import { readJson, type Storage } from "../storage/storage";

/** A draft as stored in the browser. */
interface LocalDraft {
  /** The server's version that it is based on. */
  version: number;
  /** True until the server has this body. */
  dirty: boolean;
  /** The person's own revision that is being revised; absent for none. */
  based_on?: number;
  body: DraftBody;
}

type KeyedDraft = LocalDraft & { key: string };

/** Two drafts of one solution, made independently. The person chooses. */
export interface Conflict {
  mine: DraftBody;
  theirs: DraftBody;
  /** The server's version to continue from. */
  theirVersion: number;
  /** The browser's key of the other draft; null if it is the server's. */
  theirKey: string | null;
}

/**
 * "saving" from the first change until the server has it; "unreachable" after a failed attempt; "local" when the server
 * takes no more drafts of this lease, so that only this browser has it.
 */
export type Saving = "saved" | "saving" | "unreachable" | "signed_out" | "local";

interface KeeperOptions {
  storage: Storage;
  /** Prefix of the keys of drafts: one for each user and project. */
  prefix: string;
  /** Distinguishes this page from others in the same browser. */
  page: string;
  api: Pick<Api, "saveDraft">;
  /** The person's own revision that is being revised, as a draft; null for new work. */
  revised: { revision: number; said: DraftBody } | null;
  onChange: () => void;
}

const SAVE_AFTER_MS = 2_000;
const RETRY_AFTER_MS = 5_000;

/**
 * Keeps the draft of one lease: in the browser at every change, on the server every two seconds. `version` is the last
 * stored version that this page has seen. If the server has a newer one, or another tab left its own draft, both are
 * kept.
 */
export class DraftKeeper {
  saving: Saving = "saved";
  conflict: Conflict | null = null;
  private version = 0;
  private body: DraftBody | null = null;
  /** `edited_at` of every draft sent: if an answer is lost, this shows that the server's draft is ours. */
  private readonly sent = new Set<string>();
  private readonly backoff = new Backoff(RETRY_AFTER_MS);
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Drafts of other tabs, to choose between once the current conflict is resolved. */
  private rivals: KeyedDraft[] = [];
  /** Prefix of the keys of this lease's drafts: each page has its own, so that tabs never overwrite each other's. */
  private readonly prefix: string;
  private readonly key: string;
  private inFlight = false;
  private closed = false;

  constructor(
    private readonly lease: number,
    private readonly options: KeeperOptions,
  ) {
    this.prefix = `${options.prefix}${lease}:`;
    this.key = this.prefix + options.page;
  }

  /**
   * The draft to continue with: the server's, the browser's, the revised label, or none. May leave conflicts to
   * resolve.
   */
  open(task: Task): DraftBody | null {
    const theirs = (task.draft ? parseDraft(task.draft.body) : null) ?? this.options.revised?.said ?? null;
    this.version = task.draft?.version ?? 0;
    const [local, ...others] = this.worthKeeping(theirs);
    if (!local) return theirs;
    const mine = local.body;
    const { key, ...adopted } = local;
    this.store(adopted);
    if (key !== this.key) this.options.storage.remove(key);
    this.rivals = others;
    if (theirs && this.isBehind(local, theirs)) {
      this.conflict = { mine, theirs, theirVersion: this.version, theirKey: null };
      if (!this.isOfEarlierRevision(local)) this.version = local.version;
    } else if (others.length) this.nextConflict(mine);
    else if (local.dirty) this.keep(mine);
    return mine;
  }

  /** Drafts of this browser that the server lacks, newest first, without repetition. */
  private worthKeeping(theirs: DraftBody | null): KeyedDraft[] {
    const kept: KeyedDraft[] = [];
    for (const local of this.localDrafts()) {
      const known = kept.some(({ body }) => same(body, local.body));
      const replaced = theirs && !local.dirty && this.isBehind(local, theirs) && !this.isOfEarlierRevision(local);
      const saved = kept.length > 0 && !local.dirty && !this.isOfEarlierRevision(local);
      if (known || replaced || saved) this.options.storage.remove(local.key);
      else kept.push(local);
    }
    return kept;
  }

  /** The drafts of all pages, newest first. */
  private localDrafts(): KeyedDraft[] {
    const { storage } = this.options;
    return storage
      .keys(this.prefix)
      .flatMap((key) => {
        const local = readJson<LocalDraft>(storage, key);
        const body = local && parseDraft(local.body);
        return body ? [{ ...local, body, key }] : [];
      })
      .sort((a, b) => b.body.edited_at.localeCompare(a.body.edited_at));
  }

  /** Whether the server's draft is newer than the one that the local draft is based on. */
  private isBehind(local: KeyedDraft, theirs: DraftBody): boolean {
    if (this.isOfEarlierRevision(local)) return true;
    return local.version < this.version && !same(theirs, local.body);
  }

  /** Whether it was typed before the label was submitted elsewhere. */
  private isOfEarlierRevision(local: KeyedDraft): boolean {
    return (local.based_on ?? 0) !== this.basedOn;
  }

  /** Compares `mine` with the next draft that another tab left; false if there is none. */
  private nextConflict(mine: DraftBody): boolean {
    const rival = this.rivals.shift();
    if (rival) this.conflict = { mine, theirs: rival.body, theirVersion: this.version, theirKey: rival.key };
    return rival !== undefined;
  }

  /** Saves a change that the person made. */
  keep(body: DraftBody): void {
    this.body = body;
    if (this.saving === "saved") this.saving = "saving";
    this.write(true);
    this.schedule(SAVE_AFTER_MS);
    this.options.onChange();
  }

  /** Saves elapsed time: not worth a request, it is sent with the next change. */
  keepTime(body: DraftBody): void {
    const local = readJson<LocalDraft>(this.options.storage, this.key);
    if (local) this.write(local.dirty, body);
    if (this.body) this.body = body;
  }

  /** Resolves the conflict with one of the two drafts and returns it. */
  settle(choice: "mine" | "theirs"): DraftBody | null {
    const conflict = this.conflict;
    if (!conflict) return null;
    this.conflict = null;
    this.version = conflict.theirVersion;
    const taken = choice === "mine" ? (this.body ?? conflict.mine) : conflict.theirs;
    if (choice === "mine" || conflict.theirKey) this.keep(taken);
    else this.forget();
    if (conflict.theirKey) this.options.storage.remove(conflict.theirKey);
    if (this.nextConflict(taken)) this.options.onChange();
    return taken;
  }

  /** Called when the server has the chosen draft. */
  private forget(): void {
    this.body = null;
    clearTimeout(this.timer);
    this.options.storage.remove(this.key);
    this.saving = "saved";
    this.options.onChange();
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

  /** Deletes the draft after the work was submitted or given up. */
  discard(): void {
    this.stop();
    this.options.storage.remove(this.key);
  }

  /** Stops saving; stored drafts stay. */
  stop(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  private get basedOn(): number {
    return this.options.revised?.revision ?? 0;
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
    const foreign = theirs && !this.sent.has(theirs.edited_at) && !same(theirs, mine);
    if (foreign) this.conflict = { mine, theirs, theirVersion: stored.version, theirKey: null };
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
    this.store({ version: this.version, dirty, based_on: this.basedOn, body });
  }

  private store(draft: LocalDraft): void {
    this.options.storage.set(this.key, JSON.stringify(draft));
  }

  private become(saving: Saving): void {
    this.saving = saving;
    this.options.onChange();
  }
}

/** One draft, or two with the same content: nobody has to choose. */
function same(a: DraftBody, b: DraftBody): boolean {
  return a.edited_at === b.edited_at || JSON.stringify(a.work) === JSON.stringify(b.work);
}
