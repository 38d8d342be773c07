import { BrowserDatabase } from "./database";
import { localJournal } from "./journal";
import { KeptStorage } from "./kept";

const NAME = "stepmark";
/** A page waits so long for the database; what it has is added when it comes later. */
const PATIENCE_MS = 1_500;

/** The browser's own storage, shared with its other pages. */
export function browserStorage(onChange: () => void): KeptStorage {
  const channel = new BroadcastChannel(NAME);
  const storage: KeptStorage = new KeptStorage({
    journal: localJournal(`${NAME}:`),
    database: new BrowserDatabase(NAME),
    tell: (key, text) => channel.postMessage([key, text]),
    onChange,
  });
  channel.onmessage = ({ data }: MessageEvent<[string, string | null]>) => storage.hear(...data);
  return storage;
}

/** Resolves once what was kept is read or it has taken too long; `late` is called if it comes after that. */
export async function readingOf(storage: KeptStorage, late: () => void): Promise<void> {
  let waiting = true;
  const reading = storage.flush().then(() => waiting || late());
  await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  waiting = false;
}
