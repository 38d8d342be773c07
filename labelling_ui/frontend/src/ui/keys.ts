import type { Answer } from "../state/model";

export type Command =
  | { type: "rate"; answer: Answer }
  | { type: "move"; by: number }
  | { type: "prompt"; prompt: "skip" }
  | { type: "panel"; panel: "guidelines" | "keys" }
  | { type: "first_error" | "flag" | "comment" | "error_type" | "reference" | "undo" | "redo" | "submit" | "leave" | "decide" };

export interface Press {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** Where the press landed: in a text, on something that Enter and Space work already, or on nothing special. */
export type Place = "text" | "control" | "page";

const PLAIN: Record<string, Command> = {
  "1": { type: "rate", answer: "good" },
  "2": { type: "rate", answer: "neutral" },
  "3": { type: "rate", answer: "bad" },
  "4": { type: "rate", answer: "unsure" },
  j: { type: "move", by: 1 },
  ArrowDown: { type: "move", by: 1 },
  k: { type: "move", by: -1 },
  ArrowUp: { type: "move", by: -1 },
  e: { type: "first_error" },
  f: { type: "flag" },
  c: { type: "comment" },
  t: { type: "error_type" },
  r: { type: "reference" },
  g: { type: "panel", panel: "guidelines" },
  z: { type: "undo" },
  s: { type: "prompt", prompt: "skip" },
  v: { type: "decide" },
  "?": { type: "panel", panel: "keys" },
  Enter: { type: "submit" },
  Escape: { type: "leave" },
};

/** What a key press asks for, or null when it is none of ours. */
export function commandOf(press: Press, place: Place): Command | null {
  if (press.key === "Escape") return PLAIN.Escape!;
  if ((press.ctrlKey || press.metaKey) && press.key === "Enter" && place === "text") return { type: "leave" };
  if (place === "text" || press.ctrlKey || press.metaKey || press.altKey) return null;
  if (place === "control" && (press.key === "Enter" || press.key === " ")) return null;
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  if (press.shiftKey && key === "z") return { type: "redo" };
  return PLAIN[key] ?? null;
}

export function placeOf(target: EventTarget | null): Place {
  if (!(target instanceof Element)) return "page";
  if (target.closest("textarea, input, select")) return "text";
  return target.closest("button, a, summary") ? "control" : "page";
}
