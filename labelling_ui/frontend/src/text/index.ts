import { en, type Catalogue } from "./en";

export type { Catalogue };

/** The catalogues beside English, each fetched only by those who read it. */
const OTHERS: Record<string, () => Promise<Catalogue>> = {
  de: async () => (await import("./de")).de,
};

/**
 * What the page says, in the language that it was asked for in. `speak` sets it before anything is drawn: read it
 * where it is said, since a constant of a module would keep the English.
 */
export let text: Catalogue = en;

/** Takes up the page's own language (`<html lang>`); English where there is no such catalogue or it does not come. */
export async function speak(language = document.documentElement.lang): Promise<void> {
  const load = OTHERS[language.split("-")[0]!];
  text = load ? await load().catch(() => en) : en;
}

/**
 * The time of day of a timestamp (ISO 8601, or milliseconds since 1970); empty for one that cannot be read. The browser's
 * own region decides: English alone does not say whether a day has 12 hours or 24.
 */
export function timeOf(timestamp: string | number): string {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) return "";
  const region = navigator.languages.find((tag) => tag.split("-")[0] === text.locale) ?? text.locale;
  return date.toLocaleTimeString(region, { hour: "2-digit", minute: "2-digit" });
}
