import { text, type Catalogue } from ".";
import { en } from "./en";

/** A reason that is offered: `kept` is handed in, the same for everybody who reads the data; `said` is on the button. */
export interface Reason {
  kept: string;
  said: string;
}

/** The reasons that `of` picks from a catalogue: kept in English, said as the reader says them. */
export function reasons(of: (catalogue: Catalogue) => Record<string, string>): Reason[] {
  const said = of(text);
  return Object.entries(of(en)).map(([name, kept]) => ({ kept, said: said[name] ?? kept }));
}

/** What is kept, in the reader's words; what somebody wrote stays. */
export function inWords(kept: string, offered: Reason[]): string {
  return offered.find((reason) => reason.kept === kept)?.said ?? kept;
}

/** What is to be kept of the reader's words. */
export function toKeep(said: string, offered: Reason[]): string {
  return offered.find((reason) => reason.said === said)?.kept ?? said;
}
