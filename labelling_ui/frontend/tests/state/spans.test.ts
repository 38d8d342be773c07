import { describe, expect, it } from "vitest";
import { parseDraft } from "../../src/state/draft";
import { markOf, type Action, type State } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { toSubmission, toWork } from "../../src/state/submission";
import { codePointsTo, indexOfCodePoint, quoted } from "../../src/state/spans";
import { sampleTask, terms } from "../sample";

const task = sampleTask({ alternatives: [1], scheme: { error_types: terms("slip") } });
const after = (...actions: Action[]): State => actions.reduce(reduce, startState(task));
const spansOf = (state: State) => markOf(state.work, 0).spans;
const BAD: Action = { type: "rate", step: 0, answer: "bad" };
const MARKED: Action = { type: "mark_span", step: 0, start: 2, end: 4 };
const TYPED: Action = { type: "span_error_type", step: 0, index: 0, value: "slip" };
const say = (value: string): Action => ({ type: "span_comment", step: 0, index: 0, value });

describe("what is marked in a step", () => {
  it("is handed in with what was said of it, and comes back from the label", () => {
    const state = after(BAD, MARKED, TYPED, say("It is four. "));
    const submission = toSubmission(task, state, "id")!;
    expect(submission.path[0]!.ratings[0]!.spans).toEqual([
      { start: 2, end: 4, error_type: "slip", comment: "It is four." },
    ]);
    const label = { ...submission, revision: 1, submitted_at: "2026-01-01T00:00:00Z" };
    expect(toWork(label).marks[0]!.spans).toEqual([{ start: 2, end: 4, error_type: "slip", comment: "It is four." }]);
  });

  it("is undone and done again, one run of typing at once", () => {
    const state = after(MARKED, say("I"), say("It"), say("It is"));
    const untyped = reduce(state, { type: "undo" });
    expect(spansOf(untyped)).toEqual([{ start: 2, end: 4, error_type: "", comment: "" }]);
    expect(spansOf(reduce(untyped, { type: "undo" }))).toEqual([]);
    expect(spansOf(reduce(untyped, { type: "redo" }))[0]!.comment).toBe("It is");
    const removed = reduce(state, { type: "remove_span", step: 0, index: 0 });
    expect(spansOf(removed)).toEqual([]);
    expect(spansOf(reduce(removed, { type: "undo" }))).toBe(spansOf(state));
  });

  it("is marked once, and is at least a character long", () => {
    const once = after(MARKED);
    expect(reduce(once, MARKED)).toBe(once);
    expect(reduce(once, { ...MARKED, start: 4 })).toBe(once);
  });

  it("has a type of error only while the step is bad", () => {
    const good = after({ type: "rate", step: 0, answer: "good" }, MARKED);
    expect(reduce(good, TYPED)).toBe(good);
    const bad = reduce(reduce(good, BAD), TYPED);
    expect(spansOf(bad)[0]!.error_type).toBe("slip");
    expect(spansOf(reduce(bad, { type: "rate", step: 0, answer: "neutral" }))[0]!.error_type).toBe("");
  });

  it("is not handed in with a step that was never judged", () => {
    const state = after(MARKED, { type: "stop", kind: "give_up", reason: "long" });
    expect(toSubmission(task, state, "id")!.path[0]!.ratings[0]!.spans).toEqual([]);
  });

  it("is nothing in a draft of a page that did not know of it", () => {
    const work = { marks: { 0: { answer: "bad", flagged: false, error_type: "", comment: "" } } };
    expect(parseDraft({ format: 1, work, cursor: 0 })!.work.marks[0]!.spans).toEqual([]);
  });

  it("counts characters as the server does, whatever they take here", () => {
    const text = "2 + 2 = 🤔 5";
    expect(quoted(text, { start: 8, end: 9 })).toBe("🤔");
    expect(codePointsTo(text, text.indexOf("5"))).toBe(10);
    expect(text.slice(indexOfCodePoint(text, 10))).toBe("5");
  });
});
