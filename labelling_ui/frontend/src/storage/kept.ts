import { Backoff } from "../outbox/backoff";
import type { Change, Database } from "./database";
import type { Journal } from "./journal";
import type { Storage } from "./storage";

const RETRY_AFTER_MS = 1_000;
/** In the journal, of a key that was taken away: the database may still have it. */
const GONE = "";

/** What the database was not given yet: a text, or null for none, with the text before. */
interface Pending {
  text: string | null;
  before: string | null;
  journaled: boolean;
}

export interface Parts {
  journal: Journal;
  database: Database;
  /** Tells the browser's other pages, whose `hear` is called. */
  tell: (key: string, text: string | null) => void;
  /** Something changed that this page did not do, or that `survives` tells of. */
  onChange: () => void;
}

/**
 * A text stands in memory, goes into the journal within the same call, since the page may be gone at any moment, and
 * leaves it once the database has it on the disk. So the journal has what the database has not (also what pages left
 * that closed too soon, or that knew of no database) and, where one of the two fails, the other is enough.
 */
export class KeptStorage implements Storage {
  private readonly memory = new Map<string, string>();
  private readonly pending = new Map<string, Pending>();
  /** What the database has, as far as this page knows; null until it was read. */
  private known: Map<string, string> | null = null;
  /** Keys taken away before the database was read. */
  private readonly gone = new Set<string>();
  private failing = false;
  private writing = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly backoff = new Backoff(RETRY_AFTER_MS);

  constructor(private readonly parts: Parts) {
    for (const [key, text] of parts.journal.read()) {
      if (text === GONE) this.gone.add(key);
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

  /** Another page has written a text or, with null, taken one away. */
  hear(key: string, text: string | null): void {
    this.remember(key, text);
    this.parts.onChange();
  }

  /**
   * Reads the database, where that was not done, and gives it what it has not, one transaction after the other.
   * Never rejects: what fails is tried again later, by itself.
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
    this.pending.set(key, { text, before, journaled: this.parts.journal.write(key, text ?? GONE) });
    this.parts.tell(key, text);
    void this.flush();
  }

  private remember(key: string, text: string | null): void {
    if (text !== null) this.memory.set(key, text);
    else this.memory.delete(key);
    if (this.known) return;
    if (text !== null) this.gone.delete(key);
    else this.gone.add(key);
  }

  private async load(): Promise<Map<string, string>> {
    const { database, journal, onChange } = this.parts;
    const found = await database.read();
    for (const [key, text] of found) if (!this.memory.has(key) && !this.gone.has(key)) this.memory.set(key, text);
    for (const key of this.gone) {
      if (this.pending.has(key)) continue;
      if (found.has(key)) this.pending.set(key, { text: null, before: null, journaled: true });
      else journal.forget(key, GONE);
    }
    this.gone.clear();
    onChange();
    return found;
  }

  private async writeAll(known: Map<string, string>): Promise<void> {
    const batch = [...this.pending];
    await this.parts.database.write(batch.map(([key, item]) => toChange(key, item, known.get(key))));
    for (const [key, item] of batch) {
      if (item.text !== null) known.set(key, item.text);
      else known.delete(key);
      if (this.pending.get(key) === item) this.pending.delete(key);
      this.parts.journal.forget(key, item.text ?? GONE);
    }
  }
}

/** What is taken away is what this page knows of: another may have written something newer there meanwhile. */
function toChange(key: string, { text, before }: Pending, known: string | undefined): Change {
  if (text !== null) return { key, text };
  return { key, text, was: [before, known].filter((one) => one != null) };
}
