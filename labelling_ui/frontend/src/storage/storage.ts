import { parseJson } from "../json";

/**
 * Text kept under keys, for all pages of one browser. Reading and writing are done at once; keeping what was written
 * beyond the page's life is the storage's own matter, and `survives` tells how that goes.
 */
export interface Storage {
  get(key: string): string | null;
  set(key: string, value: string): void;
  remove(key: string): void;
  keys(prefix: string): string[];
  /** False where something under keys that begin so would be lost with this page, as far as is known. */
  survives(prefix: string): boolean;
}

/** Reads JSON, or null where there is none or it is damaged. */
export function readJson<T>(storage: Storage, key: string): T | null {
  return parseJson(storage.get(key) ?? "") as T | null;
}
