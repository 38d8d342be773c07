import { describe, expect, it } from "vitest";
import { text } from "../../src/text";
import { commandOf, type Press } from "../../src/ui/keys";

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

  it("let a button be pressed with Enter, and rate from it all the same", () => {
    expect(commandOf(press("Enter"), "control")).toBeNull();
    expect(commandOf(press(" "), "control")).toBeNull();
    expect(commandOf(press("1"), "control")).toEqual({ type: "rate", answer: "good" });
  });

  it("are all on the list that ? shows", () => {
    const arrows: Record<string, string> = { "↓": "ArrowDown", "↑": "ArrowUp", Esc: "Escape" };
    for (const [keys] of text.keys) {
      const parts = keys.split(" ");
      const shiftKey = parts[0] === "Shift";
      for (const key of shiftKey ? parts.slice(1) : parts) {
        expect(commandOf(press(arrows[key] ?? key, { shiftKey }), "page"), key).not.toBeNull();
      }
    }
  });
});
