/** A text to be kept; or none, where what stands there is one of `was`. */
export type Change = { key: string; text: string } | { key: string; text: null; was: string[] };

export interface Database {
  read(): Promise<Map<string, string>>;
  /** All of the changes or, where it rejects, none. What was kept is on the disk. */
  write(changes: Change[]): Promise<void>;
}

const STORE = "texts";
const PATIENCE_MS = 5_000;

/** The browser's IndexedDB: large and asynchronous. A connection that the browser closed is opened again. */
export class BrowserDatabase implements Database {
  private connection: Promise<IDBDatabase> | null = null;

  constructor(private readonly name: string) {}

  async read(): Promise<Map<string, string>> {
    const store = (await this.connect()).transaction(STORE).objectStore(STORE);
    const [keys, texts] = [store.getAllKeys(), store.getAll()];
    await within(done(store.transaction));
    return new Map(keys.result.map((key, index) => [String(key), String(texts.result[index])]));
  }

  async write(changes: Change[]): Promise<void> {
    const store = (await this.connect()).transaction(STORE, "readwrite", { durability: "strict" }).objectStore(STORE);
    for (const change of changes) {
      if (change.text !== null) store.put(change.text, change.key);
      else removeIf(store, change.key, change.was);
    }
    // The page may be gone before any event of the transaction comes.
    if (changes.every(({ text }) => text !== null)) store.transaction.commit();
    await within(done(store.transaction));
  }

  private async connect(): Promise<IDBDatabase> {
    this.connection ??= within(open(this.name));
    try {
      const database = await this.connection;
      const forget = () => (this.connection = null);
      database.onclose = forget;
      database.onversionchange = () => {
        forget();
        database.close();
      };
      return database;
    } catch (error) {
      this.connection = null;
      throw error;
    }
  }
}

function open(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function removeIf(store: IDBObjectStore, key: string, was: string[]): void {
  const found = store.get(key);
  found.onsuccess = () => was.includes(found.result as string) && store.delete(key);
}

function done(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/** A database that never answers, as happens after a crash of the browser, is one that fails. */
function within<T>(promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The browser's database does not answer.")), PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
