export type Word = "1" | "0" | "-1" | "unsure";

export type Action =
  | { kind: "rate"; word: Word }
  | { kind: "move"; by: 1 | -1 }
  | { kind: "firstError" }
  | { kind: "nextDifference" }
  | { kind: "fold" }
  | { kind: "press"; key: string };

const WORDS: Record<string, Word> = { "1": "1", "2": "0", "3": "-1", "4": "unsure" };
const PRESSED = new Set(["a", "b", "c", "d", "A", "B", "C", "D", "w", "s", "z", "?", "Enter"]);

/** What a key asks for: null while somebody writes, or holds a key that is the browser's. */
export function actionOf(event: KeyboardEvent): Action | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || writes(event.target)) return null;
  const { key } = event;
  if (key in WORDS) return { kind: "rate", word: WORDS[key]! };
  if (key === "j" || key === "ArrowDown") return { kind: "move", by: 1 };
  if (key === "k" || key === "ArrowUp") return { kind: "move", by: -1 };
  if (key === "e") return { kind: "firstError" };
  if (key === "n") return { kind: "nextDifference" };
  if (key === "o") return { kind: "fold" };
  if (key === "Enter" && !isPlain(event.target)) return null; // a button or link does what it says
  return PRESSED.has(key) ? { kind: "press", key } : null;
}

function writes(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
}

function isPlain(target: EventTarget | null): boolean {
  return !(target instanceof Element && target.closest("a, button, summary"));
}
