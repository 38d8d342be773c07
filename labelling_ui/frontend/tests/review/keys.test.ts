import { describe, expect, it, vi } from "vitest";
import { actionOf, type Keys } from "../../src/review/keys";

const KEYS: Keys = { u: "rate:1", q: "rate:-1", "4": "rate:unsure", e: "first_error", j: "next", b: "press", B: "press", m: "more" };

vi.stubGlobal("Element", class {}); // nothing of the page has the keyboard

const press = (key: string, more: Partial<KeyboardEvent> = {}) => actionOf({ key, target: null, ...more } as KeyboardEvent, KEYS);

describe("the keys of a case", () => {
  it("are those that its page says", () => {
    expect(press("u")).toEqual({ kind: "rate", word: "1" });
    expect(press("q")).toEqual({ kind: "rate", word: "-1" });
    expect(press("4")).toEqual({ kind: "rate", word: "unsure" });
    expect(press("j")).toEqual({ kind: "move", by: 1 });
    expect(press("b")).toEqual({ kind: "press", key: "b" });
    expect(press("B")).toEqual({ kind: "press", key: "B" });
    expect(press("m")).toEqual({ kind: "more" });
    expect(press("1")).toBeNull();
  });

  it("and arrows, Enter and Escape everywhere", () => {
    expect(press("ArrowUp")).toEqual({ kind: "move", by: -1 });
    expect(press("Enter")).toEqual({ kind: "press", key: "Enter" });
    expect(press("Escape")).toEqual({ kind: "leave" });
  });

  it("are the browser's with Ctrl, and one press rates once", () => {
    expect(press("u", { ctrlKey: true })).toBeNull();
    expect(press("u", { repeat: true })).toBeNull();
  });
});
