import { describe, expect, it } from "vitest";
import type { Scheme } from "../../src/api/types";
import { readiness, rows } from "../../src/state/derived";
import type { Action, Answer, State } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { toSubmission, toWork } from "../../src/state/submission";
import { sampleTask } from "../sample";

// Positions 0 to 2 with one, three and two candidates: steps 0; 10, 11, 12; 20, 21.
const taskWith = (scheme: Partial<Scheme> = {}) =>
  sampleTask({ alternatives: [1, 3, 2], scheme: { choose_path: true, ask_own_step: true, ...scheme } });
const rate = (step: number, answer: Answer): Action => ({ type: "rate", step, answer });
const choose = (step: number): Action => ({ type: "choose", step });
const own = (value: string): Action => ({ type: "own_step", position: 1, value });
const ALL_BAD = [rate(10, "bad"), rate(11, "bad"), rate(12, "bad")];

function after(actions: Action[], scheme: Partial<Scheme> = {}): State {
  return actions.reduce(reduce, startState(taskWith(scheme)));
}

const shown = (state: State) => rows(state).map((row) => row.step.id);
const submitted = (state: State) => toSubmission(taskWith(), state, "id")!;
const path = (state: State) => submitted(state).path.map(({ chosen, own_text }) => own_text ?? chosen);

describe("a path that is chosen", () => {
  it("shows a position's candidates once the one before it has a way on", () => {
    expect(shown(after([]))).toEqual([0]);
    const grown = after([rate(0, "good")]);
    expect(shown(grown)).toEqual([0, 10, 11, 12]);
    expect(grown.cursor).toBe(10);
    expect(shown(reduce(grown, rate(0, "bad")))).toEqual([0]);
  });

  it("goes on by the one best candidate without a word, and asks between equals", () => {
    const clear = after([rate(0, "good"), rate(10, "neutral"), rate(11, "good"), rate(12, "bad")]);
    expect(shown(clear)).toEqual([0, 10, 11, 12, 20, 21]);
    const equal = after([rate(0, "good"), rate(10, "good"), rate(11, "good"), rate(12, "bad")]);
    expect(readiness(equal)).toEqual({ ready: false, why: "choose", next: 10 });
    expect(shown(reduce(equal, choose(11)))).toContain(20);
  });

  it("takes a candidate by one key, which is good unless something was said of it; never a bad one", () => {
    const taken = after([rate(0, "good"), choose(12)]);
    expect(taken.work.marks[12]!.answer).toBe("good");
    expect(taken.cursor).toBe(10);
    const bad = after([rate(0, "good"), rate(12, "bad")]);
    expect(reduce(bad, choose(12))).toBe(bad);
  });

  it("asks for no more than the one that is taken where the project does not want every candidate rated", () => {
    const grown = after([rate(0, "good"), rate(10, "bad"), rate(11, "good")], { rate_alternatives: false });
    expect(shown(grown)).toEqual([0, 10, 11, 12, 20, 21]);
    expect(grown.cursor).toBe(20);
  });

  it("grows by a step of the person's own, and is what a phase-1 label says", () => {
    const state = after([rate(0, "good"), ...ALL_BAD, own("mine"), { type: "onward" }, rate(20, "good"), rate(21, "neutral")]);
    expect(readiness(state)).toMatchObject({ ready: true, finish: "solution" });
    expect(path(state)).toEqual([0, "mine", 20]);
    expect(submitted(state).path[1]!.ratings.map((said) => said.rating)).toEqual([-1, -1, -1]);
  });

  it("takes back what was come to by words that are taken back, with the cursor where they stood", () => {
    const state = after([rate(0, "good"), ...ALL_BAD, own("mine"), { type: "onward" }]);
    expect(state.cursor).toBe(20);
    const back = reduce(state, own(" "));
    expect(shown(back)).toEqual([0, 10, 11, 12]);
    expect(back.cursor).toBe(10);
  });

  it("ends in an error where every candidate is bad and nothing else is said", () => {
    const state = after([rate(0, "good"), ...ALL_BAD]);
    expect(readiness(state)).toEqual({ ready: true, finish: "found_error", firstError: 1 });
    expect(path(state)).toEqual([0, null]);
  });

  it("goes on by a bad one where the project reads to the end, and then has its error there", () => {
    const state = after([rate(0, "bad"), ...ALL_BAD.slice(0, 2), rate(12, "good"), rate(20, "good"), rate(21, "bad")], {
      stop_at_first_error: false,
    });
    expect(readiness(state)).toEqual({ ready: true, finish: "found_error", firstError: 0 });
    expect(path(state)).toEqual([0, 12, 20]);
  });

  it("ends before its candidates do where the person says that it is complete, and goes on when that is taken back", () => {
    const open = after([rate(0, "good"), rate(10, "good"), rate(11, "bad"), rate(12, "bad")]);
    const done = reduce(open, { type: "complete" });
    expect(readiness(done)).toMatchObject({ ready: true, finish: "solution" });
    expect(path(done)).toEqual([0, 10]);
    expect(shown(done)).toContain(done.cursor);
    expect(shown(reduce(done, { type: "complete" }))).toEqual(shown(open));
  });

  it("leaves out candidates that nothing was said of", () => {
    const state = after([rate(0, "good"), rate(11, "good"), { type: "complete" }], { rate_alternatives: false });
    expect(submitted(state).path[1]!.ratings.map((said) => said.step)).toEqual([11]);
  });

  it("comes back from the label as it was handed in", () => {
    for (const actions of [
      [rate(0, "good"), rate(10, "good"), rate(11, "good"), rate(12, "bad"), choose(11), { type: "complete" } as Action],
      [rate(0, "good"), ...ALL_BAD, own("mine"), rate(20, "good"), rate(21, "bad")],
      [rate(0, "good"), ...ALL_BAD],
    ]) {
      const label = { ...submitted(after(actions)), revision: 1, submitted_at: "2026-01-01T00:00:00Z" };
      const again = { ...startState(taskWith()), work: toWork(label) };
      expect(submitted(again).path.map((at) => ({ ...at, dwell_ms: 0 }))).toEqual(label.path);
      expect(readiness(again)).toEqual(readiness(after(actions)));
    }
  });

  it("is undone and done again like all else", () => {
    const steps: Action[] = [rate(0, "good"), choose(11), rate(10, "bad"), rate(12, "bad"), { type: "complete" }];
    let state = after(steps);
    const done = path(state);
    for (let i = 0; i < steps.length; i += 1) state = reduce(state, { type: "undo" });
    expect(shown(state)).toEqual([0]);
    for (let i = 0; i < steps.length; i += 1) state = reduce(state, { type: "redo" });
    expect(path(state)).toEqual(done);
  });
});
