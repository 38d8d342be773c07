import { parseJson } from "../json";

/**
 * Texts under keys, for all pages of one browser. Reading and writing are synchronous. Storing beyond the page's life
 * happens in the background; `survives` reports whether it works.
 */
export interface Storage {
  get(key: string): string | null;
  set(key: string, value: string): void;
  remove(key: string): void;
  keys(prefix: string): string[];
  /** False if a text under this prefix would be lost with the page, as far as is known. */
  survives(prefix: string): boolean;
}

/** Reads JSON, or null if it is absent or damaged. */
export function readJson<T>(storage: Storage, key: string): T | null {
  return parseJson(storage.get(key) ?? "") as T | null;
}
