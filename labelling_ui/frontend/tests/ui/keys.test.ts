import { describe, expect, it } from "vitest";
import { text } from "../../src/text";
import { commandOf, SHORTCUTS, shortcutsOf, type Press } from "../../src/ui/keys";
import { capsOf } from "../../src/ui/SidePanel";
import { SCHEME } from "../sample";

function press(key: string, held: Partial<Press> = {}): Press {
  return { key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...held };
}

describe("keys", () => {
  it.each([
    ["1", { type: "rate", answer: "good" }],
    ["4", { type: "rate", answer: "unsure" }],
    ["ArrowDown", { type: "move", by: 1 }],
    ["k", { type: "move", by: -1 }],
    ["E", { type: "first_error" }],
    ["Enter", { type: "submit" }],
    ["9", { type: "stop", kind: "give_up" }],
    ["8", { type: "stop", kind: "bad_problem" }],
  ])("%s", (key, command) => {
    expect(commandOf(press(key), "page")).toEqual(command);
  });

  it("undo with z and redo with Shift z", () => {
    expect(commandOf(press("z"), "page")).toEqual({ type: "undo" });
    expect(commandOf(press("Z", { shiftKey: true }), "page")).toEqual({ type: "redo" });
  });

  it("leave the browser's own shortcuts alone", () => {
    for (const held of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) {
      expect(commandOf(press("f", held), "page")).toBeNull();
    }
  });

  it("are letters while a text is typed, apart from the ways out of it", () => {
    expect(commandOf(press("e"), "text")).toBeNull();
    expect(commandOf(press("Enter"), "text")).toBeNull();
    expect(commandOf(press("Escape"), "text")).toEqual({ type: "leave" });
    expect(commandOf(press("Enter", { ctrlKey: true }), "text")).toEqual({ type: "leave" });
  });

  it("leave its digits to a box for a number, and do what they do from it", () => {
    expect(commandOf(press("3"), "number")).toBeNull();
    expect(commandOf(press("e"), "number")).toEqual({ type: "first_error" });
    expect(commandOf(press("Enter"), "number")).toEqual({ type: "leave" });
  });

  it("let a button be pressed with Enter, and rate from it all the same", () => {
    expect(commandOf(press("Enter"), "control")).toBeNull();
    expect(commandOf(press(" "), "control")).toBeNull();
    expect(commandOf(press("1"), "control")).toEqual({ type: "rate", answer: "good" });
  });

  it("are all on the sheet that ? shows, under what they do", () => {
    for (const { keys, held, command, about } of SHORTCUTS) {
      const place = held === "Ctrl" ? "text" : "page";
      for (const key of keys) {
        const pressed = press(key, { shiftKey: held === "Shift", ctrlKey: held === "Ctrl" });
        expect(commandOf(pressed, place), about).toEqual(command);
      }
      expect(text.shortcuts.what[about]).toBeTruthy();
    }
  });

  it("mean one thing each", () => {
    const pressed = SHORTCUTS.flatMap(({ keys, held = "" }) => keys.map((key) => `${held} ${key}`));
    expect(new Set(pressed).size).toBe(pressed.length);
  });

  it("are the project's where it gives them away", () => {
    const shortcuts = shortcutsOf({ ...SCHEME, keys: { good: "0", no_error: "q", go_to: "1", returned: "ö" } });
    const does = (key: string) => shortcuts.filter((one) => one.keys.includes(key)).map((one) => one.about);
    expect(["0", "q", "1", "ö", "l"].map(does)).toEqual([["good"], ["no_error"], ["go_to"], ["returned"], []]);
  });

  it("are shown as they are printed on a keyboard", () => {
    const shown = (about: string) => capsOf(SHORTCUTS.find((shortcut) => shortcut.about === about)!);
    expect([shown("next"), shown("redo"), shown("leave")]).toEqual([["j", "↓"], ["Shift", "z"], ["Esc"]]);
  });
});
