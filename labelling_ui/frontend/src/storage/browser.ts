import { BrowserDatabase } from "./database";
import { localJournal } from "./journal";
import { JournaledStorage } from "./journaled";

const NAME = "stepmark";
/** How long a page waits for the database, whose texts are otherwise added later. */
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

/** Resolves once the storage is read or has taken too long; `late` is called if it is read after that. */
export async function waitForStorage(storage: JournaledStorage, late: () => void): Promise<void> {
  let waiting = true;
  const reading = storage.flush().then(() => waiting || late());
  await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  waiting = false;
}
