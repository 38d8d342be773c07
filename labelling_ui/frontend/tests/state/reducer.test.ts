import { describe, expect, it } from "vitest";
import { left, readiness, rows } from "../../src/state/derived";
import { markOf, type Action, type State } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { sampleTask, SEEN, terms } from "../sample";

function play(state: State, ...actions: Action[]): State {
  return actions.reduce(reduce, state);
}

function start(options: Parameters<typeof sampleTask>[0] = {}): State {
  return startState(sampleTask(options));
}

describe("rating", () => {
  it("moves to the next step without an answer", () => {
    expect(reduce(start(), { type: "rate", step: 0, answer: "good" }).cursor).toBe(10);
  });

  it("goes back to an earlier gap when nothing is open below", () => {
    const state = play(
      start(),
      { type: "rate", step: 10, answer: "good" },
      { type: "rate", step: 20, answer: "neutral" },
    );
    expect(state.cursor).toBe(0);
  });

  it("stays where it is when everything is answered", () => {
    const state = play(start({ alternatives: [1] }), { type: "rate", step: 0, answer: "unsure" });
    expect(state.cursor).toBe(0);
  });

  it("drops the error type when the step is no longer bad", () => {
    const state = play(
      start({ scheme: { error_types: terms("slip") } }),
      { type: "rate", step: 0, answer: "bad" },
      { type: "error_type", step: 0, value: "slip" },
      { type: "rate", step: 0, answer: "good" },
    );
    expect(markOf(state.work, 0).error_type).toBe("");
  });
});

describe("the first error", () => {
  it("leaves later steps unreached and refuses to rate them", () => {
    const state = reduce(start(), { type: "rate", step: 10, answer: "bad" });
    expect(rows(state).map((row) => row.reached)).toEqual([true, true, false]);
    expect(reduce(state, { type: "rate", step: 20, answer: "good" })).toBe(state);
  });

  it("is not the end where every step is asked about", () => {
    const state = reduce(start({ scheme: { stop_at_first_error: false } }), {
      type: "rate",
      step: 0,
      answer: "bad",
    });
    expect(rows(state).every((row) => row.reached)).toBe(true);
    expect(state.cursor).toBe(10);
  });

  it("accepts what came before, and keeps what was said there", () => {
    const state = play(
      start({ alternatives: [1, 1, 1, 1] }),
      { type: "rate", step: 0, answer: "neutral" },
      { type: "first_error", step: 20, seen: SEEN },
    );
    expect([0, 10, 20, 30].map((id) => markOf(state.work, id).answer)).toEqual(["neutral", "good", "bad", null]);
    expect(readiness(state)).toEqual({ ready: true, finish: "found_error", firstError: 2 });
  });

  it("moves an earlier first error to where the person now sees it", () => {
    const state = play(
      start({ scheme: { stop_at_first_error: false } }),
      { type: "first_error", step: 0, seen: SEEN },
      { type: "first_error", step: 20, seen: SEEN },
    );
    expect([0, 10, 20].map((id) => markOf(state.work, id).answer)).toEqual(["good", "good", "bad"]);
  });

  it("is one undo, however many steps it accepted", () => {
    const before = start();
    const after = play(before, { type: "first_error", step: 20, seen: SEEN }, { type: "undo" });
    expect(after.work).toBe(before.work);
  });

  it("leads to the first step before it that was not seen to its end, and accepts none before that", () => {
    const before = start({ alternatives: [1, 1, 1, 1] });
    const after = reduce(before, { type: "first_error", step: 30, seen: new Set([0, 20]) });
    expect(after.work).toBe(before.work);
    expect(after.cursor).toBe(10);
    expect(readiness(reduce(after, { type: "first_error", step: 30, seen: new Set([0, 10, 20]) })).ready).toBe(true);
  });

  it("leaves what is rated or flagged before it as it is", () => {
    const state = play(
      start({ alternatives: [1, 1, 1, 1] }),
      { type: "flag", step: 10 },
      { type: "rate", step: 20, answer: "unsure" },
      { type: "first_error", step: 30, seen: new Set([0]) },
    );
    expect([0, 10, 20, 30].map((id) => markOf(state.work, id).answer)).toEqual(["good", null, "unsure", "bad"]);
    expect([state.cursor, left(state).length]).toEqual([10, 1]);
  });

  it("brings ratings given below it back when it is taken away", () => {
    const state = play(
      start(),
      { type: "rate", step: 20, answer: "good" },
      { type: "rate", step: 0, answer: "bad" },
      { type: "rate", step: 0, answer: "good" },
    );
    expect(markOf(state.work, 20).answer).toBe("good");
    expect(left(state).map((row) => row.step.id)).toEqual([10]);
  });
});

describe("no more errors", () => {
  it("accepts what nothing was said of, and nothing else", () => {
    const state = play(
      start({ alternatives: [1, 1, 1, 1] }),
      { type: "rate", step: 0, answer: "neutral" },
      { type: "flag", step: 20 },
      { type: "no_error", seen: SEEN },
    );
    expect([0, 10, 20, 30].map((id) => markOf(state.work, id).answer)).toEqual(["neutral", "good", null, "good"]);
    expect([0, 10, 30].map((id) => markOf(state.work, id).accepted)).toEqual([false, true, true]);
    expect([state.cursor, left(state).length]).toEqual([20, 1]);
  });

  it("is one undo, however many steps it accepted", () => {
    const before = start();
    const after = play(before, { type: "no_error", seen: SEEN });
    expect(readiness(after)).toEqual({ ready: true, finish: "solution", firstError: null });
    expect(reduce(after, { type: "undo" }).work).toBe(before.work);
  });

  it("leads to the first step not seen to its end, and accepts none before that", () => {
    const before = start();
    const after = reduce(before, { type: "no_error", seen: new Set([0, 20]) });
    expect(after.work).toBe(before.work);
    expect(after.cursor).toBe(10);
  });

  it("asks for no look at what is rated already, or comes after the first error", () => {
    const state = play(
      start({ alternatives: [1, 1, 1, 1] }),
      { type: "rate", step: 10, answer: "good" },
      { type: "rate", step: 20, answer: "bad" },
      { type: "no_error", seen: new Set([0]) },
    );
    expect([0, 10, 20, 30].map((id) => markOf(state.work, id).answer)).toEqual(["good", "good", "bad", null]);
  });

  it("accepts what comes behind an error, too, where every step is asked about", () => {
    const state = play(
      start({ scheme: { stop_at_first_error: false } }),
      { type: "rate", step: 10, answer: "bad" },
      { type: "no_error", seen: SEEN },
    );
    expect([0, 10, 20].map((id) => markOf(state.work, id).answer)).toEqual(["good", "bad", "good"]);
  });

  it("says nothing of other completions at the error", () => {
    const state = play(
      start({ alternatives: [1, 2] }),
      { type: "rate", step: 10, answer: "bad" },
      { type: "no_error", seen: new Set([0, 10, 11]) },
    );
    expect(markOf(state.work, 11).answer).toBeNull();
    expect(left(state).map((row) => row.step.id)).toEqual([11]);
  });

  it.each([{ offer_accepting: false }, { choose_path: true }])("is not there with %o", (scheme) => {
    const before = start({ scheme });
    expect(reduce(before, { type: "no_error", seen: SEEN })).toBe(before);
  });

  it("is a rating of the step's own once it is given by hand", () => {
    const state = play(start(), { type: "no_error", seen: SEEN }, { type: "rate", step: 10, answer: "good" });
    expect([0, 10, 20].map((id) => markOf(state.work, id).accepted)).toEqual([true, false, true]);
  });
});

describe("where every step is rated by hand", () => {
  it("the first error accepts nothing", () => {
    const state = reduce(start({ scheme: { offer_accepting: false } }), { type: "first_error", step: 10, seen: SEEN });
    expect([0, 10].map((id) => markOf(state.work, id).answer)).toEqual([null, "bad"]);
  });
});

describe("other completions at a position", () => {
  it("open below a bad step and have to be answered", () => {
    const state = play(start({ alternatives: [1, 3, 1] }), { type: "first_error", step: 10, seen: SEEN });
    expect(rows(state).map((row) => row.step.id)).toEqual([0, 10, 11, 12, 20]);
    expect(readiness(state)).toEqual({ ready: false, why: "left", count: 2, next: 11 });
  });

  it("stay closed where the project does not ask for them", () => {
    const state = play(start({ alternatives: [3, 1], scheme: { rate_alternatives: false } }), {
      type: "first_error",
      step: 0,
      seen: SEEN,
    });
    expect(rows(state).map((row) => row.step.id)).toEqual([0, 10]);
  });

  it("cannot be called the first error of the solution", () => {
    const state = reduce(start({ alternatives: [2, 1] }), { type: "rate", step: 0, answer: "bad" });
    expect(reduce(state, { type: "first_error", step: 1, seen: SEEN })).toBe(state);
  });
});

describe("readiness", () => {
  it("is a solution when every step is answered and none is bad", () => {
    const state = play(
      start(),
      { type: "rate", step: 0, answer: "good" },
      { type: "rate", step: 10, answer: "unsure" },
      { type: "rate", step: 20, answer: "neutral" },
    );
    expect(readiness(state)).toEqual({ ready: true, finish: "solution", firstError: null });
  });

  it("waits for the reason of a stop, and follows it", () => {
    let state = reduce(start(), { type: "stop", kind: "bad_problem", reason: "  " });
    expect(readiness(state)).toEqual({ ready: false, why: "reason" });
    state = reduce(state, { type: "stop", kind: "bad_problem", reason: "No question is asked." });
    expect(readiness(state)).toEqual({ ready: true, finish: "bad_problem", firstError: null });
    expect(readiness(reduce(state, { type: "continue" })).ready).toBe(false);
  });
});

describe("undo and redo", () => {
  it("go over notes, flags and stops as well", () => {
    const states = [start()];
    const actions: Action[] = [
      { type: "flag", step: 0 },
      { type: "step_comment", step: 0, value: "odd" },
      { type: "dispute_reference" },
      { type: "comment", value: "hm" },
      { type: "stop", kind: "give_up", reason: "too hard" },
    ];
    for (const action of actions) states.push(reduce(states.at(-1)!, action));
    let state = states.at(-1)!;
    for (const earlier of states.slice(0, -1).reverse()) {
      state = reduce(state, { type: "undo" });
      expect(state.work).toBe(earlier.work);
    }
    for (const later of states.slice(1)) {
      state = reduce(state, { type: "redo" });
      expect(state.work).toBe(later.work);
    }
  });

  it("take one run of typing as one", () => {
    const before = start();
    const state = play(
      before,
      { type: "step_comment", step: 0, value: "o" },
      { type: "step_comment", step: 0, value: "od" },
      { type: "step_comment", step: 0, value: "odd" },
      { type: "undo" },
    );
    expect(state.work).toBe(before.work);
  });

  it("take typing in two places as two", () => {
    const state = play(
      start(),
      { type: "step_comment", step: 0, value: "one" },
      { type: "step_comment", step: 10, value: "two" },
      { type: "undo" },
    );
    expect(markOf(state.work, 0).comment).toBe("one");
    expect(markOf(state.work, 10).comment).toBe("");
  });

  it("do not give time back", () => {
    const state = play(start(), { type: "rate", step: 0, answer: "good" }, { type: "spend", ms: 700 }, { type: "undo" });
    expect(state.total_ms).toBe(700);
    expect(state.dwell_ms).toEqual({ 10: 700 });
  });

  it("forget what was undone once something new is done", () => {
    const state = play(
      start(),
      { type: "rate", step: 0, answer: "good" },
      { type: "undo" },
      { type: "rate", step: 0, answer: "bad" },
    );
    expect(reduce(state, { type: "redo" })).toBe(state);
  });
});

describe("moving", () => {
  it("stops at both ends and may read on past the first error", () => {
    const state = reduce(start(), { type: "rate", step: 0, answer: "bad" });
    expect(reduce(state, { type: "move", by: -1 })).toBe(state);
    expect(play(state, { type: "move", by: 9 }).cursor).toBe(20);
  });
});
