import { Backoff } from "../outbox/backoff";
import type { Storage } from "./storage";

/** Synchronous storage of texts: `write` reports whether it succeeded. An empty text is stored too. */
export interface Journal {
  read(): Map<string, string>;
  write(key: string, text: string): boolean;
  /** Removes a key; with `text`, only if that is its value and not another page's. */
  forget(key: string, text?: string): void;
}

/** A text to store; or none, to remove one of `was`. */
export type Change = { key: string; text: string } | { key: string; text: null; was: string[] };

export interface Database {
  read(): Promise<Map<string, string>>;
  /** Applies all changes or, if it rejects, none. Stored texts are on disk. */
  write(changes: Change[]): Promise<void>;
}

const RETRY_AFTER_MS = 1_000;
/** The journal entry of a removed key, which the database may still have. */
const REMOVED = "";

/** A change that the database lacks: the new text, or null for a removal, and the previous text. */
interface Pending {
  text: string | null;
  before: string | null;
  journaled: boolean;
}

interface Parts {
  journal: Journal;
  database: Database;
  /** Notifies the browser's other pages, whose `receive` is called. */
  notify: (key: string, text: string | null) => void;
  /** Called when another page changed something, or the result of `survives` changed. */
  onChange: () => void;
}

/**
 * A text is kept in memory, written to the journal within the same call, since the page may close at any moment, and
 * removed from the journal once the database has it on disk. So the journal holds everything that the database lacks,
 * also from pages that closed too early or had no database. If one of the two fails, the other is enough.
 */
export class JournaledStorage implements Storage {
  private readonly memory = new Map<string, string>();
  private readonly pending = new Map<string, Pending>();
  /** The database's content as far as this page knows; null until it has been read. */
  private known: Map<string, string> | null = null;
  /** Keys removed before the database was read. */
  private readonly removed = new Set<string>();
  private failing = false;
  private writing = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly backoff = new Backoff(RETRY_AFTER_MS);

  constructor(private readonly parts: Parts) {
    for (const [key, text] of parts.journal.read()) {
      if (text === REMOVED) this.removed.add(key);
      else this.memory.set(key, text);
    }
  }

  get(key: string): string | null {
    return this.memory.get(key) ?? null;
  }

  keys(prefix: string): string[] {
    return [...this.memory.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  set(key: string, text: string): void {
    this.put(key, text);
  }

  remove(key: string): void {
    if (this.memory.has(key)) this.put(key, null);
  }

  survives(prefix: string): boolean {
    const lost = ([key, { text, journaled }]: [string, Pending]) => key.startsWith(prefix) && text !== null && !journaled;
    return !this.failing || ![...this.pending].some(lost);
  }

  /** Another page has written a text or, with null, removed one. */
  receive(key: string, text: string | null): void {
    this.remember(key, text);
    this.parts.onChange();
  }

  /**
   * Reads the database once, then writes the pending changes, one transaction after another. Never rejects: a failure
   * is retried later.
   */
  async flush(): Promise<void> {
    if (this.writing) return;
    this.writing = true;
    clearTimeout(this.timer);
    const failedBefore = this.failing;
    try {
      this.known ??= await this.load();
      while (this.pending.size > 0) await this.writeAll(this.known);
      this.backoff.reset();
      this.failing = false;
    } catch {
      this.failing = true;
      this.timer = setTimeout(() => void this.flush(), this.backoff.next());
    }
    this.writing = false;
    if (this.failing || failedBefore) this.parts.onChange();
  }

  private put(key: string, text: string | null): void {
    const before = this.get(key);
    this.remember(key, text);
    this.pending.set(key, { text, before, journaled: this.parts.journal.write(key, text ?? REMOVED) });
    this.parts.notify(key, text);
    void this.flush();
  }

  private remember(key: string, text: string | null): void {
    if (text !== null) this.memory.set(key, text);
    else this.memory.delete(key);
    if (this.known) return;
    if (text !== null) this.removed.delete(key);
    else this.removed.add(key);
  }

  private async load(): Promise<Map<string, string>> {
    const { database, journal, onChange } = this.parts;
    const stored = await database.read();
    for (const [key, text] of stored) if (!this.memory.has(key) && !this.removed.has(key)) this.memory.set(key, text);
    for (const key of this.removed) {
      if (this.pending.has(key)) continue;
      if (stored.has(key)) this.pending.set(key, { text: null, before: null, journaled: true });
      else journal.forget(key, REMOVED);
    }
    this.removed.clear();
    onChange();
    return stored;
  }

  private async writeAll(known: Map<string, string>): Promise<void> {
    const batch = [...this.pending];
    await this.parts.database.write(batch.map(([key, item]) => toChange(key, item, known.get(key))));
    for (const [key, item] of batch) {
      if (item.text !== null) known.set(key, item.text);
      else known.delete(key);
      if (this.pending.get(key) === item) this.pending.delete(key);
      this.parts.journal.forget(key, item.text ?? REMOVED);
    }
  }
}

/** A removal names the texts that this page knows: another page may have written a newer one. */
function toChange(key: string, { text, before }: Pending, known: string | undefined): Change {
  if (text !== null) return { key, text };
  return { key, text, was: [before, known].filter((text) => text != null) };
}
