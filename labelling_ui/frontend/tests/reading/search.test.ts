import { describe, expect, it } from "vitest";
import { find, firstFrom } from "../../src/reading/search";

const STEPS = [
  { id: 7, text: "Take x^2 and\n  then X^2 again." },
  { id: 3, text: "No square here: 𝑥 (x." },
  { id: 9, text: "x^2" },
];

describe("searching a solution", () => {
  it("finds in reading order, upper and lower case alike, each with its place", () => {
    const hits = find(STEPS, "x^2");
    expect(hits).toEqual([
      { step: 7, from: 5, to: 8 },
      { step: 7, from: 20, to: 23 },
      { step: 9, from: 0, to: 3 },
    ]);
  });

  it("takes all white space as one, and every sign as itself", () => {
    expect(find(STEPS, " and then ")).toEqual([{ step: 7, from: 9, to: 19 }]);
    expect(find(STEPS, "(x.")).toHaveLength(1);
    expect(find(STEPS, ".*")).toEqual([]);
    expect(find(STEPS, "  ")).toEqual([]);
  });

  it("begins where the person is, and at the top where nothing follows", () => {
    const hits = find(STEPS, "x^2");
    const order = STEPS.map((step) => step.id);
    expect([7, 3, 9].map((step) => firstFrom(hits, order, step))).toEqual([0, 2, 2]);
    expect(firstFrom(hits.slice(0, 2), order, 9)).toBe(0);
  });
});
