import type { Scheme } from "../api/types";
import type { Answer, Stop } from "../state/model";
import type { Catalogue } from "../text";
import { DEFAULT_KEYS } from "../vocabulary";

export type Command =
  | { type: "rate"; answer: Answer }
  | { type: "move"; by: number }
  | { type: "prompt"; prompt: "skip" }
  | { type: "stop"; kind: Stop["kind"] }
  | { type: "panel"; panel: "guidelines" | "keys" }
  | { type: "hint" | "first_error" | "no_error" | "go_to" | "flag" | "comment" | "error_type" | "reference" | "undo" | "redo" | "submit" | "leave" | "decide" | "search" | "mark" | "break" | "returned" | "choose" | "complete" | "own_step" }
  | { type: "asked"; what: "progress" | "critique" }
  | { type: "tool"; tool: "clause" | "consistency" | "redundant" | "recovers" }
  | { type: "select_word"; by: number; extend: boolean };

export interface Press {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/**
 * The target of a key press: a text, a number field, something that handles Enter and Space itself, or nothing special.
 */
export type Place = "text" | "number" | "control" | "page";

/** Where a key appears on the sheet that `?` shows. */
export type Group = "rating" | "error" | "moving" | "notes" | "work" | "page";

export interface Shortcut {
  /** Values of `KeyboardEvent.key`; each works on its own. */
  readonly keys: readonly string[];
  readonly held?: "Shift" | "Ctrl";
  readonly command: Command;
  readonly group: Group;
  readonly about: keyof Catalogue["shortcuts"]["what"];
}

/** Every key of the workbench, before a scheme renames some (`shortcutsOf`). */
export const SHORTCUTS: readonly Shortcut[] = [
  { keys: [DEFAULT_KEYS.good], command: { type: "rate", answer: "good" }, group: "rating", about: "good" },
  { keys: [DEFAULT_KEYS.neutral], command: { type: "rate", answer: "neutral" }, group: "rating", about: "neutral" },
  { keys: [DEFAULT_KEYS.bad], command: { type: "rate", answer: "bad" }, group: "rating", about: "bad" },
  { keys: [DEFAULT_KEYS.unsure], command: { type: "rate", answer: "unsure" }, group: "rating", about: "unsure" },
  { keys: [DEFAULT_KEYS.first_error], command: { type: "first_error" }, group: "rating", about: "first_error" },
  { keys: [DEFAULT_KEYS.no_error], command: { type: "no_error" }, group: "rating", about: "no_error" },
  { keys: [DEFAULT_KEYS.choose], command: { type: "choose" }, group: "rating", about: "choose" },
  { keys: [DEFAULT_KEYS.own_step], command: { type: "own_step" }, group: "rating", about: "own_step" },
  { keys: [DEFAULT_KEYS.complete], command: { type: "complete" }, group: "rating", about: "complete" },
  { keys: [DEFAULT_KEYS.error_type], command: { type: "error_type" }, group: "rating", about: "error_type" },
  { keys: [DEFAULT_KEYS.progress], command: { type: "asked", what: "progress" }, group: "error", about: "progress" },
  { keys: [DEFAULT_KEYS.critique], command: { type: "asked", what: "critique" }, group: "error", about: "critique" },
  { keys: [DEFAULT_KEYS.clause], command: { type: "tool", tool: "clause" }, group: "notes", about: "clause" },
  { keys: [DEFAULT_KEYS.consistency], command: { type: "tool", tool: "consistency" }, group: "notes", about: "consistency" },
  { keys: [DEFAULT_KEYS.redundant], command: { type: "tool", tool: "redundant" }, group: "notes", about: "redundant" },
  { keys: [DEFAULT_KEYS.recovers], command: { type: "tool", tool: "recovers" }, group: "notes", about: "recovers" },
  { keys: [DEFAULT_KEYS.next, "ArrowDown"], command: { type: "move", by: 1 }, group: "moving", about: "next" },
  { keys: [DEFAULT_KEYS.previous, "ArrowUp"], command: { type: "move", by: -1 }, group: "moving", about: "previous" },
  { keys: [DEFAULT_KEYS.go_to], command: { type: "go_to" }, group: "moving", about: "go_to" },
  { keys: [DEFAULT_KEYS.search], command: { type: "search" }, group: "moving", about: "search" },
  { keys: [DEFAULT_KEYS.comment], command: { type: "comment" }, group: "notes", about: "comment" },
  { keys: [DEFAULT_KEYS.mark], command: { type: "mark" }, group: "notes", about: "mark" },
  { keys: ["ArrowLeft"], command: { type: "select_word", by: -1, extend: false }, group: "notes", about: "word_before" },
  { keys: ["ArrowRight"], command: { type: "select_word", by: 1, extend: false }, group: "notes", about: "word_after" },
  { keys: ["ArrowLeft"], held: "Shift", command: { type: "select_word", by: -1, extend: true }, group: "notes", about: "word_less" },
  { keys: ["ArrowRight"], held: "Shift", command: { type: "select_word", by: 1, extend: true }, group: "notes", about: "word_more" },
  { keys: [DEFAULT_KEYS.flag], command: { type: "flag" }, group: "notes", about: "flag" },
  { keys: [DEFAULT_KEYS.undo], command: { type: "undo" }, group: "work", about: "undo" },
  { keys: [DEFAULT_KEYS.undo], held: "Shift", command: { type: "redo" }, group: "work", about: "redo" },
  { keys: ["Enter"], command: { type: "submit" }, group: "work", about: "submit" },
  { keys: [DEFAULT_KEYS.skip], command: { type: "prompt", prompt: "skip" }, group: "work", about: "skip" },
  { keys: [DEFAULT_KEYS.give_up], command: { type: "stop", kind: "give_up" }, group: "work", about: "give_up" },
  { keys: [DEFAULT_KEYS.bad_problem], command: { type: "stop", kind: "bad_problem" }, group: "work", about: "bad_problem" },
  { keys: [DEFAULT_KEYS.decide], command: { type: "decide" }, group: "work", about: "decide" },
  { keys: [DEFAULT_KEYS.returned], command: { type: "returned" }, group: "page", about: "returned" },
  { keys: [DEFAULT_KEYS.break], command: { type: "break" }, group: "page", about: "break" },
  { keys: [DEFAULT_KEYS.reference], command: { type: "reference" }, group: "page", about: "reference" },
  { keys: [DEFAULT_KEYS.hint], command: { type: "hint" }, group: "page", about: "hint" },
  { keys: [DEFAULT_KEYS.guidelines], command: { type: "panel", panel: "guidelines" }, group: "page", about: "guidelines" },
  { keys: [DEFAULT_KEYS.keys], command: { type: "panel", panel: "keys" }, group: "page", about: "keys" },
  { keys: ["Escape"], command: { type: "leave" }, group: "page", about: "leave" },
  { keys: ["Enter"], held: "Ctrl", command: { type: "leave" }, group: "page", about: "leave_text" },
];

/** Actions that the scheme does not have get no key. */
const ASKED: Partial<Record<Shortcut["about"], (scheme: Scheme) => boolean>> = {
  neutral: (scheme) => scheme.offer_neutral,
  unsure: (scheme) => scheme.offer_unsure,
  first_error: (scheme) => scheme.offer_accepting,
  no_error: (scheme) => scheme.offer_accepting && !scheme.choose_path,
  error_type: (scheme) => scheme.error_types.length > 0,
  progress: (scheme) => scheme.ask_progress,
  critique: (scheme) => scheme.critique !== "none",
  own_step: (scheme) => scheme.ask_own_step,
  choose: (scheme) => scheme.choose_path,
  complete: (scheme) => scheme.choose_path,
  clause: (scheme) => scheme.policy_clauses.length > 0,
  consistency: (scheme) => scheme.consistency,
  redundant: (scheme) => scheme.redundancy,
  recovers: (scheme) => scheme.recovery,
};

/** The keys of a project, for key presses and for the sheet. Redo uses undo's key with Shift. */
export function shortcutsOf(scheme: Scheme | null): readonly Shortcut[] {
  if (!scheme) return SHORTCUTS;
  return SHORTCUTS.filter(({ about }) => ASKED[about]?.(scheme) ?? true).map((shortcut) => {
    const renamed = scheme.keys[shortcut.about === "redo" ? "undo" : shortcut.about];
    return renamed ? { ...shortcut, keys: [renamed, ...shortcut.keys.slice(1)] } : shortcut;
  });
}

/** The first key that the sheet shows for an action; empty if the scheme has none. */
export function keyOf(about: Shortcut["about"], shortcuts: readonly Shortcut[]): string {
  return shortcuts.find((shortcut) => shortcut.about === about)?.keys[0] ?? "";
}

function find(shortcuts: readonly Shortcut[], key: string, held?: Shortcut["held"]): Command | null {
  return shortcuts.find((shortcut) => shortcut.held === held && shortcut.keys.includes(key))?.command ?? null;
}

/** The action of a key press, or null if it has none. Shift alone makes no difference unless it is part of a key. */
export function commandOf(press: Press, place: Place, shortcuts: readonly Shortcut[] = SHORTCUTS): Command | null {
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  if (key === "Escape") return find(shortcuts, key);
  if (press.ctrlKey || press.metaKey) return place === "text" ? find(shortcuts, key, "Ctrl") : null;
  if (place === "text" || press.altKey) return null;
  if (place === "number" && key === "Enter") return { type: "leave" };
  if (place === "number" && /^(\d|ArrowLeft|ArrowRight)$/.test(key)) return null;
  if (place === "control" && (key === "Enter" || key === " ")) return null;
  return (press.shiftKey ? find(shortcuts, key, "Shift") : null) ?? find(shortcuts, key);
}

export function placeOf(target: EventTarget | null): Place {
  if (!(target instanceof Element)) return "page";
  if (target.closest("[data-number]")) return "number";
  if (target.closest("textarea, input, select")) return "text";
  return target.closest("button, a, summary") ? "control" : "page";
}
