import { describe, expect, it } from "vitest";
import { readiness } from "../../src/state/derived";
import { grouped, NO_DIMENSIONS, toDimensions } from "../../src/state/dimensions";
import { parseDraft } from "../../src/state/draft";
import { BLANK_MARK, markOf, type Action, type State } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { toSubmission, toWork } from "../../src/state/submission";
import { sampleTask, SCHEME, terms } from "../sample";

const EVERY_STEP = {
  stop_at_first_error: false,
  policy_clauses: terms("1.1", "1.2"),
  consistency: true,
  redundancy: true,
  recovery: true,
};

function after(state: State, ...actions: Action[]): State {
  return actions.reduce(reduce, state);
}

function judgements(state: State, task = sampleTask()) {
  return toSubmission(task, state, "id")?.path.map((place) => place.ratings[0]?.dimensions);
}

const rated: Action[] = [0, 10, 20].map((step) => ({ type: "rate", step, answer: step === 10 ? "bad" : "good" }));

describe("what is said of a step beside its rating", () => {
  const start = startState(sampleTask({ scheme: EVERY_STEP }));

  it("is handed in with the rating", () => {
    const state = after(
      start,
      ...rated,
      { type: "clause", step: 10, name: "1.2" },
      { type: "redundant", step: 0 },
      { type: "consistency", step: 10, consistent: false, with: 0 },
      { type: "recovers", step: 20 },
    );
    expect(judgements(state)).toEqual([
      { redundant: true },
      { clauses: ["1.2"], consistent: false, consistent_with: 0 },
      { recovers: true },
    ]);
  });

  it("is left out where nothing is said, so that a submission is as it always was", () => {
    expect(judgements(after(start, ...rated))).toEqual([undefined, undefined, undefined]);
  });

  it("is taken back by being said again", () => {
    const twice = (action: Action) => after(start, ...rated, action, action);
    expect(judgements(twice({ type: "clause", step: 0, name: "1.1" }))?.[0]).toBeUndefined();
    expect(judgements(twice({ type: "redundant", step: 0 }))?.[0]).toBeUndefined();
  });

  it("is no recovery where no step before is bad", () => {
    const state = after(start, ...rated, { type: "recovers", step: 10 }, { type: "recovers", step: 20 });
    expect(judgements(state)).toEqual([undefined, undefined, { recovers: true }]);
    const mended = after(state, { type: "rate", step: 10, answer: "good" });
    expect(judgements(mended)?.[2]).toBeUndefined();
  });

  it("is a contradiction only once the earlier step is pointed at", () => {
    const state = after(start, ...rated, { type: "consistency", step: 10, consistent: false, with: null });
    expect(judgements(state)?.[1]).toBeUndefined();
  });

  it("is undone and redone like everything else", () => {
    const before = after(start, ...rated);
    const state = after(before, { type: "redundant", step: 0 });
    expect(reduce(state, { type: "undo" }).work).toBe(before.work);
    expect(after(state, { type: "undo" }, { type: "redo" }).work).toBe(state.work);
  });

  it("is not said of what the project no longer asks", () => {
    const beside = { ...NO_DIMENSIONS, clauses: ["gone"], redundant: true, recovers: true, critique: "why" };
    expect(toDimensions(beside, SCHEME, { behindError: true })).toBeUndefined();
  });

  it("comes back as it was handed in", () => {
    const said = { clauses: ["1.1"], consistent: true, redundant: true, critique: "no", critique_ratings: [-1 as const] };
    const scheme = { ...SCHEME, ...EVERY_STEP, critique: "given" as const };
    expect(toDimensions({ ...NO_DIMENSIONS, ...said }, scheme, { behindError: false })).toEqual(said);
  });
});

describe("the first error", () => {
  const toError: Action[] = [
    { type: "rate", step: 0, answer: "good" },
    { type: "rate", step: 10, answer: "bad" },
  ];

  it("is asked how far the solution had got, where the project asks", () => {
    const task = sampleTask({ scheme: { ask_progress: true } });
    const state = after(startState(task), ...toError);
    expect(readiness(state)).toEqual({ ready: false, why: "asked", what: "progress", next: 10 });
    const told = reduce(state, { type: "progress", value: 3 });
    expect(toSubmission(task, told, "id")?.progress).toBe(3);
    expect(readiness(after(told, { type: "undo" }))).toEqual(readiness(state));
  });

  it("is not asked so where there is none", () => {
    const task = sampleTask({ scheme: { ask_progress: true, critique: "written" } });
    const state = after(startState(task), ...[0, 10, 20].map((step) => ({ type: "rate", step, answer: "good" }) as const));
    expect(toSubmission(task, state, "id")?.progress).toBeUndefined();
    expect(reduce(state, { type: "progress", value: 3 })).toBe(state);
  });

  it("needs a critique in words where one is to be written", () => {
    const task = sampleTask({ scheme: { critique: "written" } });
    const state = after(startState(task), ...toError, { type: "critique", step: 10, value: "  " });
    expect(readiness(state)).toEqual({ ready: false, why: "asked", what: "critique", next: 10 });
    const written = reduce(state, { type: "critique", step: 10, value: "2 + 2 is 4" });
    expect(toSubmission(task, written, "id")?.path[1]?.ratings[0]?.dimensions).toEqual({ critique: "2 + 2 is 4" });
  });

  it("has all given critiques rated, and one written where none is good", () => {
    const task = sampleTask({ critiques: 2, scheme: { critique: "given" } });
    const rateCritique = (number: number, rating: 1 | -1): Action => ({ type: "critique_rating", step: 10, number, rating });
    const one = after(startState(task), ...toError, rateCritique(0, 1));
    expect(readiness(one).ready).toBe(false);
    expect(readiness(after(one, rateCritique(1, -1))).ready).toBe(true);
    const none = after(one, rateCritique(0, -1), rateCritique(1, -1));
    expect(readiness(none).ready).toBe(false);
    const written = after(none, { type: "critique", step: 10, value: "it is 4" });
    expect(toSubmission(task, written, "id")?.path[1]?.ratings[0]?.dimensions).toEqual({
      critique: "it is 4",
      critique_ratings: [-1, -1],
    });
  });

  it("takes its critique along when it is none after all", () => {
    const state = after(
      startState(sampleTask({ scheme: { critique: "written" } })),
      ...toError,
      { type: "critique", step: 10, value: "why" },
      { type: "rate", step: 10, answer: "good" },
    );
    expect(markOf(state.work, 10).dimensions).toEqual(NO_DIMENSIONS);
  });

  it("is one run of typing for its critique", () => {
    const state = after(startState(sampleTask({ scheme: { critique: "written" } })), ...toError);
    const typed = after(state, { type: "critique", step: 10, value: "n" }, { type: "critique", step: 10, value: "no" });
    expect(reduce(typed, { type: "undo" }).work).toBe(state.work);
  });
});

it("a draft of an older page is read as one that says nothing of this", () => {
  const mark = { answer: "bad", flagged: false, error_type: "", comment: "" };
  const draft = parseDraft({ format: 1, work: { marks: { 10: mark }, ownSteps: {} }, cursor: 10 })!;
  expect(markOf(draft.work, 10)).toEqual({ ...BLANK_MARK, ...mark });
  expect(draft.work.progress).toBeNull();
});

it("a label that was handed in becomes the work that it was", () => {
  const task = sampleTask({ scheme: { ...EVERY_STEP, ask_progress: true } });
  const state = after(startState(task), ...rated, { type: "progress", value: 2 }, { type: "clause", step: 10, name: "1.1" });
  const label = { ...toSubmission(task, state, "id")!, revision: 1, submitted_at: "2026-01-01T00:00:00Z" };
  const { marks, progress } = toWork(label);
  expect({ marks, progress }).toEqual({ marks: state.work.marks, progress: 2 });
});

it("groups terms in the order in which each group first appears", () => {
  const [first, second, third] = terms("slip", "sign", "gap").map((term, at) => ({ ...term, group: at === 1 ? "b" : "a" }));
  expect(grouped([first!, second!, third!])).toEqual([
    { group: "a", terms: [first, third] },
    { group: "b", terms: [second] },
  ]);
});
