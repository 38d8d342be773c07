import { describe, expect, it } from "vitest";
import { parseDraft } from "../../src/state/draft";
import type { Action } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { toSubmission } from "../../src/state/submission";
import { sampleTask, SEEN } from "../sample";

function submit(task: ReturnType<typeof sampleTask>, ...actions: Action[]) {
  const submission = toSubmission(task, actions.reduce(reduce, startState(task)), "id");
  if (!submission) throw new Error("not ready");
  return submission;
}

describe("a submission", () => {
  it("ends at the first error: nothing is chosen there, the rest is not reached", () => {
    const { path, finish_reason } = submit(sampleTask(), { type: "first_error", step: 10, seen: SEEN });
    expect(finish_reason).toBe("found_error");
    expect(path.map((entry) => entry.chosen)).toEqual([0, null, null]);
    expect(path.map((entry) => entry.ratings[0]?.state)).toEqual(["rated", "rated", "not_reached"]);
    expect(path.map((entry) => entry.ratings[0]?.rating)).toEqual([1, -1, null]);
  });

  it("keeps unsure apart from not reached", () => {
    const { path } = submit(
      sampleTask(),
      { type: "rate", step: 0, answer: "unsure" },
      { type: "stop", kind: "give_up", reason: "Beyond me." },
    );
    expect(path.map((entry) => entry.ratings[0]?.state)).toEqual(["unsure", "not_reached", "not_reached"]);
    expect(path.map((entry) => entry.chosen)).toEqual([0, null, null]);
  });

  it("carries the person's own step in place of a chosen one", () => {
    const { path } = submit(
      sampleTask({ scheme: { ask_own_step: true } }),
      { type: "first_error", step: 20, seen: SEEN },
      { type: "own_step", position: 2, value: " x = 14 " },
    );
    expect(path[2]).toMatchObject({ chosen: null, own_text: "x = 14" });
  });

  it("goes on through a bad step where every step is asked about", () => {
    const { path, finish_reason } = submit(
      sampleTask({ scheme: { stop_at_first_error: false } }),
      { type: "rate", step: 0, answer: "good" },
      { type: "rate", step: 10, answer: "bad" },
      { type: "rate", step: 20, answer: "good" },
    );
    expect(finish_reason).toBe("found_error");
    expect(path.map((entry) => entry.chosen)).toEqual([0, 10, 20]);
  });

  it("lists the other completions that were rated, and adds up the time at the position", () => {
    const { path, total_ms } = submit(
      sampleTask({ alternatives: [2, 1] }),
      { type: "spend", ms: 300.4 },
      { type: "first_error", step: 0, seen: SEEN },
      { type: "spend", ms: 200 },
      { type: "rate", step: 1, answer: "good" },
    );
    expect(path[0]?.ratings.map((judgement) => [judgement.step, judgement.rating])).toEqual([
      [0, -1],
      [1, 1],
    ]);
    expect(path[0]?.dwell_ms).toBe(500);
    expect(total_ms).toBe(500);
  });
});

describe("a draft from elsewhere", () => {
  it.each([null, 7, "x", {}, { format: 2, work: {} }, { format: 1 }])("is refused when it is not ours: %j", (body) => {
    expect(parseDraft(body)).toBeNull();
  });
});
