import { type Change, type Database, type Journal, JournaledStorage } from "../src/storage/journaled";

/**
 * A browser with its local storage, its database and the pages that share them. Each of the two stores may fail; a
 * page that closes loses what it has not written yet.
 */
export class FakeBrowser {
  journal = new Map<string, string>();
  database = new Map<string, string>();
  journalFull = false;
  databaseBroken = false;
  /** The database answers when this resolves. */
  latency: () => Promise<unknown> = () => Promise.resolve();
  private readonly pages = new Set<JournaledStorage>();

  /** A page's storage, read; `close` ends the page at once. */
  async page(onChange: () => void = () => {}) {
    const { storage, close } = this.unreadPage(onChange);
    await storage.flush();
    return { storage, close };
  }

  unreadPage(onChange: () => void = () => {}) {
    let open = true;
    const storage: JournaledStorage = new JournaledStorage({
      journal: this.journalOf(() => open),
      database: this.databaseOf(() => open),
      notify: (key, text) => {
        for (const other of this.pages) if (other !== storage) other.receive(key, text);
      },
      onChange: () => open && onChange(),
    });
    this.pages.add(storage);
    const close = () => {
      open = false;
      this.pages.delete(storage);
    };
    return { storage, close };
  }

  /** A copy of its present content, as another browser. */
  copy(): FakeBrowser {
    const copy = new FakeBrowser();
    copy.journal = new Map(this.journal);
    copy.database = new Map(this.database);
    return copy;
  }

  /** The keys of all its entries. */
  get keys(): string[] {
    return [...new Set([...this.journal.keys(), ...this.database.keys()])];
  }

  /** The number of its drafts and pieces of finished work. */
  get work(): number {
    return this.keys.filter((key) => !key.startsWith("stepmark:sitting:")).length;
  }

  private journalOf(open: () => boolean): Journal {
    return {
      read: () => new Map(this.journal),
      write: (key, text) => {
        if (open()) this.journal.delete(key);
        if (open() && !this.journalFull) this.journal.set(key, text);
        return !this.journalFull;
      },
      forget: (key, text) => {
        if (open() && (text === undefined || this.journal.get(key) === text)) this.journal.delete(key);
      },
    };
  }

  private databaseOf(open: () => boolean): Database {
    const answer = async () => {
      await this.latency();
      if (!open()) await new Promise(() => {});
      if (this.databaseBroken) throw new Error("broken");
    };
    return {
      read: async () => {
        await answer();
        return new Map(this.database);
      },
      write: async (changes: Change[]) => {
        await answer();
        for (const change of changes) {
          if (change.text !== null) this.database.set(change.key, change.text);
          else if (change.was.includes(this.database.get(change.key)!)) this.database.delete(change.key);
        }
      },
    };
  }
}
