import { expect, it } from "vitest";
import type { OwnLabel } from "../../src/api/types";
import { withDraft } from "../../src/state/draft";
import type { Action } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { asDraft, toSubmission } from "../../src/state/submission";
import { differences } from "../../src/state/versions";
import { sampleTask, SEEN, terms } from "../sample";

const TASK = sampleTask({ alternatives: [1, 2, 1], scheme: { error_types: terms("slip"), ask_own_step: true } });

function label(...actions: Action[]): OwnLabel {
  const submission = toSubmission(TASK, actions.reduce(reduce, startState(TASK)), "id")!;
  return { ...submission, revision: 1, submitted_at: "2026-01-01T09:00:00Z" };
}

const FULL: Action[] = [
  { type: "rate", step: 0, answer: "unsure" },
  { type: "flag", step: 0 },
  { type: "first_error", step: 10, seen: SEEN },
  { type: "rate", step: 11, answer: "neutral" },
  { type: "error_type", step: 10, value: "slip" },
  { type: "step_comment", step: 10, value: "sign" },
  { type: "own_step", position: 1, value: "x = 2" },
  { type: "comment", value: "see step 2" },
  { type: "dispute_reference" },
];

it.each([
  ["an error with all that can be said of it", FULL],
  ["giving up", [{ type: "stop", kind: "give_up", reason: "too long" }]],
  ["a bad problem after some ratings", [FULL[0]!, { type: "stop", kind: "bad_problem", reason: "no data" }]],
] as [string, Action[]][])("a label that is opened again and handed in unchanged says the same: %s", (_, actions) => {
  const first = label(...actions);
  const state = withDraft(startState(TASK), asDraft(TASK, first));
  const again = toSubmission(TASK, state, "id")!;
  expect({ ...again, revision: 1, submitted_at: first.submitted_at }).toEqual(first);
  expect(differences(again, first)).toEqual([]);
});

it("tells in words what two labels say differently, and nothing else", () => {
  const good: Action[] = [0, 10, 20].map((step) => ({ type: "rate", step, answer: "good" }));
  const rows = differences(label(...good), label(...FULL));
  expect(rows).toContainEqual({ about: "Step 1", mine: "good", theirs: "unsure, flagged" });
  expect(rows).toContainEqual({ about: "Step 2", mine: "good", theirs: "bad, slip, “sign”" });
  expect(rows).toContainEqual({ about: "Result", mine: "no error", theirs: "error found" });
  expect(rows).toContainEqual({ about: "Your own step 2", mine: "–", theirs: "x = 2" });
  expect(rows).toContainEqual({ about: "Note", mine: "–", theirs: "see step 2" });
  expect(differences(label(...good), label(...good))).toEqual([]);
});
