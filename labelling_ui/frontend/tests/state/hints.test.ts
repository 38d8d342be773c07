import { describe, expect, it } from "vitest";
import type { Hint } from "../../src/api/types";
import { parseDraft, toDraft, withDraft } from "../../src/state/draft";
import { mayAskScore, missingScores, scoreInSight } from "../../src/state/hints";
import type { Action, State } from "../../src/state/model";
import { reduce, startState, stateAhead } from "../../src/state/reducer";
import { toSubmission } from "../../src/state/submission";
import { sampleTask, SEEN } from "../sample";

/** By position; the third step has no score. */
const SCORES: Record<number, number> = { 0: 0.9, 1: 0.2, 3: 0.7 };

function task(reveal: Hint["reveal"]) {
  const hint = { reveal, positions: Object.keys(SCORES).map(Number) };
  return sampleTask({ alternatives: [1, 2, 1, 1], hint, scheme: { stop_at_first_error: false } });
}

/** The state once the server has sent the scores that are due. */
function sent(state: State): State {
  const [position] = missingScores(state);
  return position === undefined ? state : sent(reduce(state, { type: "score", position, score: SCORES[position]! }));
}

function start(reveal: Hint["reveal"]): State {
  return sent(startState(task(reveal)));
}

/** The state after actions, each followed by the scores that are due by then. */
function after(state: State, ...actions: Action[]): State {
  return actions.reduce((now, action) => sent(reduce(now, action)), state);
}

function inSight(state: State): (number | null)[] {
  return state.steps.map(({ position }) => scoreInSight(state, position));
}

describe("a score on its way", () => {
  it("is due for the step that is reached, and for none after it", () => {
    const begun = startState(task("reached"));
    expect(missingScores(begun)).toEqual([0]);
    expect(missingScores(reduce(begun, { type: "move", by: 1 }))).toEqual([1]);
    expect(missingScores(startState(task("rated")))).toEqual([]);
    expect(missingScores(startState(task("on_request")))).toEqual([]);
  });

  it("is neither shown nor seen before it has come", () => {
    const begun = startState(task("reached"));
    expect(inSight(begun)).toEqual([null, null, null, null]);
    expect(begun.hints_seen).toEqual([]);
    expect(missingScores(start("reached"))).toEqual([]);
  });

  it("is seen with the own rating at the moment in which it comes", () => {
    const rated = reduce(startState(task("reached")), { type: "rate", step: 0, answer: "bad" });
    expect(reduce(rated, { type: "score", position: 0, score: 0.9 }).hints_seen).toEqual([{ position: 0, before: -1 }]);
  });

  it("is not taken where there is no hint", () => {
    const blind = startState(sampleTask());
    expect(reduce(blind, { type: "score", position: 0, score: 0.9 })).toBe(blind);
    expect(missingScores(blind)).toEqual([]);
  });
});

describe("a score that comes when its step is reached", () => {
  it("is there at once for the first step, and for none after it", () => {
    expect(inSight(start("reached"))).toEqual([0.9, null, null, null]);
  });

  it("follows the person, and stays where they have been", () => {
    const moved = after(start("reached"), { type: "move", by: 1 }, { type: "move", by: -1 });
    expect(inSight(moved)).toEqual([0.9, 0.2, null, null]);
  });

  it("skips what the person jumps over", () => {
    expect(inSight(after(start("reached"), { type: "go", step: 30 }))).toEqual([0.9, null, null, 0.7]);
  });

  it("is not there for a step that the first error puts out of reach", () => {
    const { scheme } = task("reached");
    const stopping = startState({ ...task("reached"), scheme: { ...scheme, stop_at_first_error: true } });
    const ended = after(stopping, { type: "rate", step: 0, answer: "bad" }, { type: "go", step: 10 });
    expect(scoreInSight(ended, 1)).toBeNull();
  });
});

describe("a solution that stands ready", () => {
  it("has no step reached and no score in sight or to be asked for, and is otherwise as it begins", () => {
    for (const reveal of ["reached", "rated", "on_request"] as const) {
      const ahead = stateAhead(task(reveal));
      expect(inSight(ahead)).toEqual([null, null, null, null]);
      expect(missingScores(ahead)).toEqual([]);
      expect(ahead.steps.some(({ alternatives }) => mayAskScore(ahead, alternatives[0]!.id))).toBe(false);
      expect(ahead.hints_seen).toEqual([]);
      expect(ahead.steps.some(({ alternatives }) => alternatives.some((step) => step.id === ahead.cursor))).toBe(false);
      const { hint, cursor } = startState(task(reveal));
      expect({ ...ahead, hint, cursor }).toEqual(startState(task(reveal)));
    }
  });
});

describe("a score that comes after the own rating", () => {
  it("waits for it, also where the first error accepts what came before", () => {
    const one = after(start("rated"), { type: "rate", step: 0, answer: "good" });
    expect(inSight(one)).toEqual([0.9, null, null, null]);
    const all = after(start("rated"), { type: "first_error", step: 30, seen: SEEN });
    expect(inSight(all)).toEqual([0.9, 0.2, null, 0.7]);
    expect(all.hints_seen.map((one) => one.before)).toEqual([1, 1, -1]);
  });

  it("stays when the rating is taken back: it was seen", () => {
    const undone = after(start("rated"), { type: "rate", step: 0, answer: "neutral" }, { type: "undo" });
    expect(inSight(undone)).toEqual([0.9, null, null, null]);
    expect(undone.hints_seen).toEqual([{ position: 0, before: 0 }]);
  });
});

describe("a score on request", () => {
  it("comes when it is asked for, once, with the own rating by then", () => {
    const rated = after(start("on_request"), { type: "rate", step: 0, answer: "bad" });
    expect(inSight(rated)).toEqual([null, null, null, null]);
    expect(mayAskScore(rated, 0)).toBe(true);
    const waiting = reduce(rated, { type: "hint", step: 0 });
    expect(mayAskScore(waiting, 0)).toBe(true);
    expect(reduce(waiting, { type: "hint", step: 0 })).toBe(waiting);
    const asked = sent(waiting);
    expect(inSight(asked)).toEqual([0.9, null, null, null]);
    expect(asked.hints_seen).toEqual([{ position: 0, before: -1 }]);
    expect(mayAskScore(asked, 0)).toBe(false);
    expect(reduce(asked, { type: "hint", step: 0 })).toBe(asked);
  });

  it("is nothing to ask for where the model says nothing, or at another completion", () => {
    expect(mayAskScore(start("on_request"), 20)).toBe(false);
    const open = after(start("on_request"), { type: "rate", step: 10, answer: "bad" });
    expect(mayAskScore(open, 11)).toBe(false);
    expect(reduce(open, { type: "hint", step: 11 })).toBe(open);
  });

  it("cannot be had by asking where hints come by themselves", () => {
    const state = start("rated");
    expect(reduce(state, { type: "hint", step: 0 })).toBe(state);
  });
});

describe("what was seen", () => {
  const finish: Action[] = [0, 10, 20, 30].map((step) => ({ type: "rate", step, answer: "good" }));

  it("is handed in, in the order in which it was seen", () => {
    const work = task("reached");
    const done = after(start("reached"), { type: "go", step: 30 }, ...finish);
    expect(toSubmission(work, done, "id")?.hints_seen).toEqual([
      { position: 0, before: null },
      { position: 3, before: null },
      { position: 1, before: null },
    ]);
  });

  it("is not spoken of where there is no hint, so that the submission says what it always said", () => {
    const work = sampleTask({ alternatives: [1, 2, 1, 1] });
    const done = after(startState(work), ...finish);
    expect(toSubmission(work, done, "id")).not.toHaveProperty("hints_seen");
  });

  it("comes back with a draft, and is nothing in one of an older page", () => {
    const work = task("rated");
    const left = after(startState(work), { type: "rate", step: 0, answer: "good" });
    const stored = JSON.parse(JSON.stringify(toDraft(left, "2026-01-01T00:00:00Z")));
    const back = withDraft(startState(work), parseDraft(stored)!);
    expect(back.hints_seen).toEqual(left.hints_seen);
    expect(missingScores(back)).toEqual([0]);
    expect(inSight(sent(back))).toEqual([0.9, null, null, null]);
    expect(sent(back).hints_seen).toEqual(left.hints_seen);
    expect(JSON.stringify(stored)).not.toContain("0.9");
    delete stored.hints_seen;
    expect(withDraft(startState(sampleTask()), parseDraft(stored)!).hints_seen).toEqual([]);
  });
});
