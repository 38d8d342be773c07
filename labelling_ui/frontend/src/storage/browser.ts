import { type Change, type Database, type Journal, JournaledStorage } from "./journaled";

const NAME = "stepmark";
const STORE = "texts";
const ANSWER_WITHIN_MS = 5_000;
/** How long a page waits for the database; later texts are added when they arrive. */
const PATIENCE_MS = 1_500;

/** The browser's own storage, shared with its other pages. */
export function browserStorage(onChange: () => void): JournaledStorage {
  const channel = new BroadcastChannel(NAME);
  const storage: JournaledStorage = new JournaledStorage({
    journal: localJournal(`${NAME}:`),
    database: new BrowserDatabase(NAME),
    notify: (key, text) => channel.postMessage([key, text]),
    onChange,
  });
  channel.onmessage = ({ data }: MessageEvent<[string, string | null]>) => storage.receive(...data);
  return storage;
}

/** Resolves once the storage is read or takes too long; `late` is called if it is read after that. */
export async function waitForStorage(storage: JournaledStorage, late: () => void): Promise<void> {
  let waiting = true;
  const reading = storage.flush().then(() => waiting || late());
  await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  waiting = false;
}

/** The browser's local storage: small, but synchronous. It may be full or forbidden. */
function localJournal(prefix: string): Journal {
  return {
    read() {
      const found = new Map<string, string>();
      attempt(() => {
        for (const key of Object.keys(localStorage)) {
          const text = key.startsWith(prefix) ? localStorage.getItem(key) : null;
          if (text !== null) found.set(key, text);
        }
      });
      return found;
    },
    write(key, text) {
      if (attempt(() => localStorage.setItem(key, text))) return true;
      attempt(() => localStorage.removeItem(key)); // the stored value is older
      return false;
    },
    forget(key, text) {
      attempt(() => {
        if (text === undefined || localStorage.getItem(key) === text) localStorage.removeItem(key);
      });
    },
  };
}

/** A text that this tab keeps over a reload; "" for none. */
export function readInTab(key: string): string {
  let text: string | null = null;
  attempt(() => (text = sessionStorage.getItem(`${NAME}:${key}`)));
  return text ?? "";
}

export function writeInTab(key: string, text: string): void {
  attempt(() => sessionStorage.setItem(`${NAME}:${key}`, text));
}

function attempt(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

/** The browser's IndexedDB: large and asynchronous. A connection that the browser closed is opened again. */
class BrowserDatabase implements Database {
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
    // The page may close before any event of the transaction arrives.
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

/** A database that never answers, as happens after a crash of the browser, counts as failed. */
function within<T>(promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The browser's database does not answer.")), ANSWER_WITHIN_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
