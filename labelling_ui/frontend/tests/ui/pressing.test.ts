import { describe, expect, it } from "vitest";
import { BlindRun } from "../../src/ui/pressing";

describe("a blind run", () => {
  it("takes what is pressed while nothing is shown", () => {
    expect(new BlindRun().takes(100, null)).toBe(true);
  });

  it("takes a press made before the solution was shown and heard of after", () => {
    expect(new BlindRun().takes(100, 101)).toBe(true);
  });

  it("goes on over the arrival of the solution, until the hands rest", () => {
    const run = new BlindRun();
    run.takes(100, null);
    expect([300, 650, 1_000].map((at) => run.takes(at, 200))).toEqual([true, true, true]);
    expect(run.takes(1_400, 200)).toBe(false);
    expect(run.takes(1_401, 200)).toBe(false);
  });

  it("never begins while a solution is shown, however fast the hands are", () => {
    const run = new BlindRun();
    expect([100, 101, 102].map((at) => run.takes(at, 100))).toEqual([false, false, false]);
  });
});
