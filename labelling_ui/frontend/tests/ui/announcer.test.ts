import { describe, expect, it } from "vitest";
import type { Explanation } from "../../src/api/types";
import type { Action, State } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { text } from "../../src/text";
import { type AnnouncedView, announcement } from "../../src/ui/Announcer";
import { sampleTask, SEEN, terms } from "../sample";

const TASK = sampleTask({
  alternatives: [1, 1, 1, 1, 1, 1],
  scheme: { error_types: terms("slip"), redundancy: true },
});

const page = (state: State | null, more: Partial<AnnouncedView> = {}): AnnouncedView => ({
  task: state ? TASK : null,
  state,
  idle: { kind: "loading", message: "", retryAt: null },
  saved: "saved",
  sitting: { done: 0, goal: 0, workedMs: 0, restingSince: null, proposal: null },
  practice: null,
  ...more,
});

const after = (...actions: Action[]) => actions.reduce(reduce, startState(TASK));
const heard = (before: AnnouncedView, now: AnnouncedView) => announcement(before, now, (answer) => text.answers[answer]);
const heardOf = (first: Action[], then: Action) => {
  const before = after(...first);
  return heard(page(before), page(reduce(before, then)));
};

describe("what a screen reader hears", () => {
  it("is a rating, and what is left", () => {
    expect(heardOf([], { type: "rate", step: 0, answer: "good" })).toBe(
      "Step 1: good. 5 steps left, or mark the first error.",
    );
  });

  it("is what undo and redo take back and do again, whatever it was", () => {
    const rated: Action[] = [{ type: "rate", step: 0, answer: "bad" }];
    expect(heardOf(rated, { type: "undo" })).toBe("Step 1: not rated. 6 steps left, or mark the first error.");
    for (const [action, said] of [
      [{ type: "flag", step: 0 }, "Flagged"],
      [{ type: "error_type", step: 0, value: "slip" }, "slip"],
      [{ type: "redundant", step: 0 }, "Redundant"],
      [{ type: "mark_span", step: 0, start: 0, end: 4 }, "1 mark"],
    ] as [Action, string][]) {
      expect(heardOf(rated, action)).toBe(`Step 1: bad, ${said}. First error at step 1.`);
      expect(heardOf([...rated, action], { type: "undo" })).toBe("Step 1: bad. First error at step 1.");
    }
  });

  it("is the last of many steps that change at once, and how many others do", () => {
    expect(heardOf([], { type: "first_error", step: 50, seen: SEEN })).toBe(
      "Step 6: bad. 5 other steps changed too. First error at step 6.",
    );
  });

  it("is the model's score of the current step, once it has come", () => {
    const hinted = startState({ ...TASK, hint: { reveal: "reached", positions: [0, 1] } });
    const heardOn = (position: number) =>
      heard(page(hinted), page(reduce(hinted, { type: "score", position, score: 0.93 })));
    expect(heardOn(0)).toBe("model: 93\u00a0%");
    expect(heardOn(1)).toBe("");
  });

  it("is nothing where the cursor moves or a text is typed: the keyboard is there", () => {
    expect(heardOf([], { type: "move", by: 1 })).toBe("");
    expect(heardOf([], { type: "step_comment", step: 0, value: "Why?" })).toBe("");
  });

  it("is that a reason is wanted where somebody gives up", () => {
    expect(heardOf([], { type: "stop", kind: "give_up", reason: "" })).toBe("Give a reason, then submit.");
  });

  it("is that a solution was handed in, and the one that comes", () => {
    const next = { ...TASK, lease: { ...TASK.lease, id: 2 } };
    const sitting = { ...page(null).sitting, done: 1 };
    const state = after();
    expect(heard(page(state), page(state, { task: next, sitting }))).toBe("Submitted. Next solution, 6 steps.");
    expect(heard(page(state), page(state, { task: next }))).toBe("Next solution, 6 steps.");
    expect(heard(page(null), page(state))).toBe("Next solution, 6 steps.");
  });

  it("is why there is no next one", () => {
    const idle = { kind: "done", message: "", retryAt: null } as const;
    const sitting = { ...page(null).sitting, done: 1 };
    expect(heard(page(after()), page(null, { idle, sitting }))).toBe(
      "Submitted. Nothing left to label. There is no more work for you here right now.",
    );
    expect(heard(page(null, { idle }), page(null, { idle: { ...idle } }))).toBe("");
  });

  it("is that work is saved once more, after it was not; what is wrong stands in a banner, which says itself", () => {
    const state = after();
    expect(heard(page(state, { saved: "unreachable" }), page(state))).toBe("Your work is saved again.");
    expect(heard(page(state, { saved: "saving" }), page(state))).toBe("");
    expect(heard(page(state), page(state, { saved: "unreachable" }))).toBe("");
  });

  it("is how a practice answer was", () => {
    const state = after();
    const practice = { begins: true, place: 1, of: 2, right: 0, total: 2, known: 0, explanation: null };
    const explanation = { outcome: "missed" } as Explanation;
    const told = page(state, { practice: { ...practice, explanation } });
    expect(heard(page(state, { practice }), told)).toBe("Not quite: there is an error.");
    expect(heard(told, { ...told })).toBe("");
  });
});
