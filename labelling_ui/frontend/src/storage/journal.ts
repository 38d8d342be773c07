/** Text that is written down within the call, or not at all: `write` tells. An empty text is kept, too. */
export interface Journal {
  read(): Map<string, string>;
  write(key: string, text: string): boolean;
  /** Forgets what stands there; where `text` is given, only if it is that and no other page's. */
  forget(key: string, text?: string): void;
}

/** The browser's local storage: small, but it has the text when `write` returns. It may be full, or forbidden. */
export function localJournal(prefix: string): Journal {
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
      attempt(() => localStorage.removeItem(key)); // what stands there is of an earlier moment
      return false;
    },
    forget(key, text) {
      attempt(() => {
        if (text === undefined || localStorage.getItem(key) === text) localStorage.removeItem(key);
      });
    },
  };
}

function attempt(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
