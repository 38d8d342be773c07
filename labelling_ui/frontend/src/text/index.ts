import { en, type Catalogue } from "./en";

export type { Catalogue };

/** The catalogues beside English, each loaded only when needed. */
const OTHERS: Record<string, () => Promise<Catalogue>> = {
  de: async () => (await import("./de")).de,
};

/**
 * The texts in the page's language. `speak` sets it before anything is drawn: read it where it is used, since a module
 * constant would keep the English.
 */
export let text: Catalogue = en;

/** Loads the page's language (`<html lang>`); English if there is no such catalogue or it fails to load. */
export async function speak(language = document.documentElement.lang): Promise<void> {
  const load = OTHERS[language.split("-")[0]!];
  text = load ? await load().catch(() => en) : en;
}

/**
 * The time of day of a timestamp (ISO 8601, or milliseconds since 1970); empty if it cannot be parsed. The browser's
 * region decides between 12 and 24 hours, since the language alone does not.
 */
export function timeOf(timestamp: string | number): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return "";
  const region = navigator.languages.find((tag) => tag.split("-")[0] === text.locale) ?? text.locale;
  return date.toLocaleTimeString(region, { hour: "2-digit", minute: "2-digit" });
}
