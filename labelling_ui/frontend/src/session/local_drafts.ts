import { readJson, type Storage } from "../storage/storage";
import { parseDraft, type DraftBody } from "../state/draft";

export interface LocalDraft {
  /** The server's version that it was made upon. */
  version: number;
  /** True while the server does not have this body. */
  dirty: boolean;
  /** The own revision that was being revised; absent for none. */
  based_on?: number;
  body: DraftBody;
}

export interface FoundDraft extends LocalDraft {
  key: string;
}

/** The drafts of one lease in this browser. Each page writes its own, so that tabs never overwrite each other's. */
export class LocalDrafts {
  private readonly key: string;

  constructor(
    private readonly storage: Storage,
    /** Of the keys of all the lease's drafts. */
    private readonly prefix: string,
    page: string,
  ) {
    this.key = prefix + page;
  }

  own(): LocalDraft | null {
    return readJson<LocalDraft>(this.storage, this.key);
  }

  write(draft: LocalDraft): void {
    this.storage.set(this.key, JSON.stringify(draft));
  }

  /** The drafts of all pages, the newest first. */
  all(): FoundDraft[] {
    return this.storage
      .keys(this.prefix)
      .map((key) => ({ key, local: readJson<LocalDraft>(this.storage, key) }))
      .flatMap(({ key, local }) => {
        const body = local && parseDraft(local.body);
        return local && body ? [{ ...local, body, key }] : [];
      })
      .sort((a, b) => b.body.edited_at.localeCompare(a.body.edited_at));
  }

  /** This page goes on with a draft, which is its own from now on. */
  adopt({ key, ...draft }: FoundDraft): void {
    this.write(draft);
    if (key !== this.key) this.storage.remove(key);
  }

  remove(key = this.key): void {
    this.storage.remove(key);
  }
}
