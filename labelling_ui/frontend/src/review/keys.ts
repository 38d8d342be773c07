import type { Rating } from "../vocabulary";

export type Word = `${Rating}` | "unsure";

export type Action =
  | { kind: "rate"; word: Word }
  | { kind: "move"; by: 1 | -1 }
  | { kind: "firstError" }
  | { kind: "nextDifference" }
  | { kind: "fold" }
  | { kind: "more" }
  | { kind: "leave" }
  | { kind: "press"; key: string };

/** The action of each key of the case, from the page (review_keys.py); the keys of answers come from the project. */
export type Keys = Readonly<Record<string, string>>;

const NAMED: Record<string, Action> = {
  next: { kind: "move", by: 1 },
  previous: { kind: "move", by: -1 },
  first_error: { kind: "firstError" },
  difference: { kind: "nextDifference" },
  fold: { kind: "fold" },
  more: { kind: "more" },
};
const ALWAYS: Keys = { ArrowDown: "next", ArrowUp: "previous", Enter: "press" };

/** The action of a key press: null while somebody types, or for a key of the browser. */
export function actionOf(event: KeyboardEvent, keys: Keys): Action | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return null;
  const { key } = event;
  if (key === "Escape") return { kind: "leave" };
  if (writes(event.target)) return null;
  if (key === "Enter" && !isPlain(event.target)) return null; // buttons and links handle these themselves
  const action = ALWAYS[key] ?? keys[key];
  if (action === "press") return { kind: "press", key };
  if (action?.startsWith("rate:")) return { kind: "rate", word: action.slice("rate:".length) as Word };
  return (action && NAMED[action]) || null;
}

function writes(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
}

function isPlain(target: EventTarget | null): boolean {
  return !(target instanceof Element && target.closest("a, button, summary"));
}
