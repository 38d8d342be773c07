import { beforeEach, describe, expect, it, vi } from "vitest";
import { formula, requestFormula, katexLoaded } from "../../src/reading/formulas";

const COUNT = 1_400;
const TEXTS = Array.from({ length: COUNT }, (_, n) => `x_{${n}} + \\frac{${n}}{2}`);

/** Lets the page run its tasks. */
function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

describe("the formulas of a text of more than a thousand", () => {
  beforeEach(async () => {
    vi.stubGlobal("window", {});
    await katexLoaded;
    await rest();
  });

  it("are drawn in turns, the first at once", async () => {
    const atOnce = TEXTS.map((tex) => formula(tex, false)).filter((html) => html !== undefined);
    expect(atOnce.length).toBeGreaterThan(0);
    expect(atOnce.length).toBeLessThan(COUNT / 2);

    const told: number[] = [];
    TEXTS.forEach((tex, n) => requestFormula(tex, false, () => told.push(n)));
    await vi.waitFor(() => expect(told.length).toBeGreaterThan(0));
    expect(told.length, "one turn does not take them all").toBeLessThan(COUNT / 2);
    await vi.waitFor(() => expect(told).toEqual(TEXTS.map((_, n) => n)), 20_000);

    await rest();
    const again = TEXTS.map((tex) => formula(tex, false)).filter((html) => html !== undefined);
    expect(again.length, "what is typeset takes time to lay out, too").toBeLessThan(COUNT / 2);
  });

  it("are left alone where they are not wanted any more", async () => {
    const told: string[] = [];
    const callOff = requestFormula("a", false, () => told.push("a"));
    requestFormula("b", false, () => told.push("b"));
    callOff();
    await vi.waitFor(() => expect(told).toEqual(["b"]));
  });

  it("are told to be broken as such", async () => {
    expect(await new Promise((resolve) => requestFormula("\\frac{1}{", false, resolve))).toBeNull();
  });
});
