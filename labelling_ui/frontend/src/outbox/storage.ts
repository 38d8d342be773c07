/** Text kept under a key. `set` tells whether it will survive a closed tab. */
export interface Storage {
  get(key: string): string | null;
  set(key: string, value: string): boolean;
  remove(key: string): void;
  keys(prefix: string): string[];
}

/**
 * The browser's local storage. Where it is full or forbidden, what cannot be written there is kept in
 * memory, so that work goes on, and `set` says false.
 */
export function browserStorage(): Storage {
  const memory = new Map<string, string>();
  const local = (): globalThis.Storage | null => {
    try {
      return window.localStorage;
    } catch {
      return null;
    }
  };
  return {
    get: (key) => memory.get(key) ?? local()?.getItem(key) ?? null,
    set(key, value) {
      try {
        const store = local();
        if (!store) throw new Error("no storage");
        store.setItem(key, value);
        memory.delete(key);
        return true;
      } catch {
        memory.set(key, value);
        return false;
      }
    },
    remove(key) {
      memory.delete(key);
      local()?.removeItem(key);
    },
    keys(prefix) {
      const all = new Set([...memory.keys(), ...Object.keys(local() ?? {})]);
      return [...all].filter((key) => key.startsWith(prefix)).sort();
    },
  };
}

/** Reads JSON, or null where there is none or it is damaged. */
export function readJson<T>(storage: Storage, key: string): T | null {
  const text = storage.get(key);
  if (text === null) return null;
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}
