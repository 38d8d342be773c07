import { describe, expect, it } from "vitest";
import { acceptable, openQuestion, left, readiness, rows } from "../../src/state/derived";
import { parseDraft, toDraft, withDraft } from "../../src/state/draft";
import { markOf } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { toSubmission } from "../../src/state/submission";
import { seeded } from "../sample";
import { CASES, everyState, KINDS, problemsOf, randomAction, randomTask, someSteps } from "./hands";

describe("whatever the person does", () => {
  it("the cursor stands on a visible step", () => {
    everyState((state, _task, seed) => {
      expect(rows(state).some((row) => row.step.id === state.cursor), `seed ${seed}`).toBe(true);
    });
  });

  it("undo then redo changes nothing, and undoing everything leads back to the start", () => {
    everyState((state, task, seed) => {
      if (state.past.length > 0) {
        const there = reduce(reduce(state, { type: "undo" }), { type: "redo" });
        expect(there.work, `seed ${seed}`).toBe(state.work);
        expect(there.cursor).toBe(state.cursor);
        expect(there.past).toHaveLength(state.past.length);
        expect(there.future).toEqual(state.future);
      }
      let back = state;
      while (back.past.length > 0) back = reduce(back, { type: "undo" });
      expect(back.work).toEqual(startState(task).work);
    });
  });

  it("one undo takes back what one action said, of every kind, and a run of typing as one", () => {
    const undone = new Set<string>();
    everyState((state, _task, seed, by, before) => {
      if (state.work === before.work || by.type === "undo" || by.type === "redo") return;
      undone.add(by.type);
      const typesOn = state.typing !== null && state.typing === before.typing && before.past.length > 0;
      const back = reduce(state, { type: "undo" });
      expect(back.work, `seed ${seed}: ${by.type}`).toBe(typesOn ? before.past.at(-1)!.work : before.work);
      if (!typesOn) expect(back.cursor).toBe(before.cursor);
    });
    const saysNothing = ["go", "move", "onward", "hint", "score", "spend", "undo", "redo"];
    expect([...undone].sort()).toEqual(KINDS.filter((kind) => !saysNothing.includes(kind)).sort());
  });

  it("no more errors: all that is left was seen, or nothing of the work is changed", () => {
    for (let seed = 1; seed <= CASES; seed += 1) {
      const random = seeded(seed);
      let state = startState(randomTask(random));
      for (let i = 0; i < 10; i += 1) state = reduce(state, randomAction(state, random));
      const asked = acceptable(state).map((row) => row.step.id);
      const seen = someSteps(state, random);
      const after = reduce(state, { type: "no_error", seen });
      if (asked.some((id) => !seen.has(id))) expect(after.work, `seed ${seed}`).toBe(state.work);
      else expect(acceptable(after), `seed ${seed}`).toEqual([]);
      const changed = Object.keys(after.work.marks).filter((id) => after.work.marks[+id] !== state.work.marks[+id]);
      expect(asked.map(String), `seed ${seed}`).toEqual(expect.arrayContaining(changed));
    }
  });

  it("first error here: all that comes before was rated, flagged or seen, or nothing of the work is changed", () => {
    for (let seed = 1; seed <= CASES; seed += 1) {
      const random = seeded(seed);
      let state = startState(randomTask(random));
      for (let i = 0; i < 10; i += 1) state = reduce(state, randomAction(state, random));
      const { id } = state.steps[Math.floor(random() * state.steps.length)]!.alternatives[0]!;
      const asked = acceptable(state, id).map((row) => row.step.id);
      const seen = someSteps(state, random);
      const after = reduce(state, { type: "first_error", step: id, seen });
      if (asked.some((one) => !seen.has(one))) expect(after.work, `seed ${seed}`).toBe(state.work);
      else for (const one of asked) expect(markOf(after.work, one), `seed ${seed}`).toMatchObject({ answer: "good", accepted: true });
    }
  });

  it("what is submitted is well-formed, and nothing is submitted while something is left", () => {
    everyState((state, task, seed) => {
      const submission = toSubmission(task, state, "id");
      expect(submission !== null, `seed ${seed}`).toBe(readiness(state).ready);
      if (submission) expect(problemsOf(submission, state), `seed ${seed}`).toEqual([]);
      if (!state.work.stop && !state.scheme.choose_path) {
        expect(submission === null, `seed ${seed}`).toBe(left(state).length > 0 || openQuestion(state) !== null);
      }
    });
  });

  it("a draft brings the work back exactly", () => {
    everyState((state, task, seed) => {
      const stored: unknown = JSON.parse(JSON.stringify(toDraft(state, "2026-01-01T00:00:00Z")));
      const back = withDraft(startState(task), parseDraft(stored)!);
      expect(toSubmission(task, back, "id"), `seed ${seed}`).toEqual(toSubmission(task, state, "id"));
      expect(back.cursor).toBe(state.cursor);
      expect(back.total_ms).toBe(state.total_ms);
    });
  });
});
