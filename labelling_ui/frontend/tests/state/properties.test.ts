import { describe, expect, it } from "vitest";
import type { Submission } from "../../src/api/types";
import { askedAtError, left, readiness, rows } from "../../src/state/derived";
import { parseDraft, toDraft, withDraft } from "../../src/state/draft";
import type { Action, Answer, State } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { toSubmission } from "../../src/state/submission";
import { sampleTask, seeded, terms } from "../sample";

const ANSWERS: Answer[] = ["good", "neutral", "bad", "unsure"];
const CASES = 300;

function randomTask(random: () => number) {
  const below = (n: number) => Math.floor(random() * n);
  const stops = random() < 0.6;
  return sampleTask({
    critiques: below(3),
    alternatives: Array.from({ length: 1 + below(6) }, () => 1 + below(3)),
    scheme: {
      stop_at_first_error: stops,
      rate_alternatives: random() < 0.6,
      ask_own_step: random() < 0.5,
      choose_path: random() < 0.3,
      error_types: terms("slip", "wrong operation"),
      policy_clauses: terms("1.1", "1.2"),
      ask_progress: random() < 0.5,
      critique: (["none", "written", "given"] as const)[below(3)],
      consistency: random() < 0.5,
      redundancy: random() < 0.5,
      recovery: !stops && random() < 0.7,
    },
  });
}

function randomAction(state: State, random: () => number): Action {
  const below = (n: number) => Math.floor(random() * n);
  const position = state.steps[below(state.steps.length)]!;
  const step = position.alternatives[below(position.alternatives.length)]!.id;
  if (random() < 0.25) return besideAction(step, below);
  const roll = random();
  if (roll < 0.4) return { type: "rate", step, answer: ANSWERS[below(4)]! };
  if (roll < 0.45) return { type: "first_error", step };
  if (roll < 0.5) return { type: "flag", step };
  if (roll < 0.55) return { type: "step_comment", step, value: `note ${below(9)}` };
  if (roll < 0.6) return { type: "error_type", step, value: "slip" };
  if (roll < 0.62) return { type: "choose", step };
  if (roll < 0.63) return { type: "complete" };
  if (roll < 0.64) return { type: "mark_span", step, start: 0, end: 1 + below(3) };
  if (roll < 0.65) return { type: "onward" };
  if (roll < 0.7) return { type: "own_step", position: position.position, value: random() < 0.5 ? "mine" : " " };
  if (roll < 0.71) return { type: "stop", kind: random() < 0.5 ? "give_up" : "bad_problem", reason: "because" };
  if (roll < 0.74) return { type: "continue" };
  if (roll < 0.76) return { type: "comment", value: "whole" };
  if (roll < 0.78) return { type: "dispute_reference" };
  if (roll < 0.84) return { type: "move", by: below(5) - 2 };
  if (roll < 0.88) return { type: "spend", ms: below(900) };
  if (roll < 0.95) return { type: "undo" };
  return { type: "redo" };
}

function besideAction(step: number, below: (n: number) => number): Action {
  const all: Action[] = [
    { type: "clause", step, name: below(2) ? "1.1" : "1.2" },
    { type: "consistency", step, consistent: [true, false, null][below(3)]!, with: [null, 0][below(2)]! },
    { type: "redundant", step },
    { type: "recovers", step },
    { type: "critique", step, value: ["", " ", "the sum is wrong"][below(3)]! },
    { type: "critique_rating", step, number: below(2), rating: ([1, 0, -1] as const)[below(3)]! },
    { type: "progress", value: below(5) },
  ];
  return all[below(all.length)]!;
}

/** Runs random hands over random tasks and hands every state on the way to `check`. */
function everyState(check: (state: State, task: ReturnType<typeof sampleTask>, seed: number) => void) {
  for (let seed = 1; seed <= CASES; seed += 1) {
    const random = seeded(seed);
    const task = randomTask(random);
    let state = startState(task);
    for (let i = 0; i < 25; i += 1) {
      state = reduce(state, randomAction(state, random));
      check(state, task, seed);
    }
  }
}

/** What the server would refuse of a path that was chosen. */
function problemsOfPath({ path, finish_reason: finish, reason }: Submission, state: State): string[] {
  const wrong: string[] = [];
  const say = (holds: boolean, what: string) => holds || wrong.push(what);
  const { stop_at_first_error: stops } = state.scheme;
  for (const [index, { position, chosen, own_text: own, ratings }] of path.entries()) {
    const said = new Map(ratings.map((judgement) => [judgement.step, judgement]));
    const taken = chosen === null ? null : said.get(chosen);
    say(position === index, "positions out of order");
    say(chosen === null || own === null, "both chosen and own");
    say(chosen === null || (taken != null && taken.state !== "not_reached"), "chosen, and nothing said of it");
    say(!(stops && taken?.rating === -1), "a bad step is gone on from");
    const last = index === path.length - 1;
    const gaveUp = finish === "give_up" || finish === "bad_problem";
    const endsBad = finish === "found_error" && stops && last && ratings.every((one) => one.rating === -1);
    say(chosen !== null || own !== null || (last && gaveUp) || endsBad, "a gap in the path");
  }
  const bad = path.some(({ chosen, ratings }) => ratings.some((one) => one.rating === -1 && (one.step === chosen || stops)));
  say(finish !== "found_error" || bad, "found_error without an error");
  say(finish === "solution" || finish === "found_error" || reason !== "", "a stop without a reason");
  return wrong;
}

function problemsOf(submission: Submission, state: State): string[] {
  if (state.scheme.choose_path) return problemsOfPath(submission, state);
  const wrong: string[] = [];
  const say = (holds: boolean, what: string) => holds || wrong.push(what);
  const { stop_at_first_error: stops } = state.scheme;
  const main = submission.path.map((entry) => entry.ratings[0]!);
  const bad = main.findIndex((judgement) => judgement.rating === -1);
  say(submission.path.length === state.steps.length, "a position is missing");
  for (const [index, entry] of submission.path.entries()) {
    const known = state.steps[index]!.alternatives.map((step) => step.id);
    say(entry.position === state.steps[index]!.position, "positions out of order");
    say(!(entry.chosen !== null && entry.own_text !== null), "both chosen and own");
    say(entry.chosen === null || entry.chosen === known[0], "chosen is not a step of the position");
    say(new Set(entry.ratings.map((r) => r.step)).size === entry.ratings.length, "a step twice");
    for (const judgement of entry.ratings) {
      say(known.includes(judgement.step), "a rating of a step from elsewhere");
      say((judgement.state === "rated") === (judgement.rating !== null), "rating and state disagree");
      say(judgement.error_type === "" || judgement.rating === -1, "an error type on a step that is not bad");
      const beside = judgement.dimensions ?? {};
      say(judgement.state !== "not_reached" || !judgement.dimensions, "something said of a step that is not reached");
      say(!(beside.critique || beside.critique_ratings) || judgement.rating === -1, "a critique of a step not bad");
      say(!beside.recovers || (bad >= 0 && index > bad), "a recovery without an error");
      say(beside.consistent !== false || beside.consistent_with != null, "a contradiction of nothing");
      say(state.scheme.redundancy || !beside.redundant, "said what is not asked");
    }
    if (stops && bad >= 0 && index > bad) {
      say(entry.ratings.every((r) => r.state === "not_reached") && entry.chosen === null, "reached after the error");
    }
  }
  const judged = main.every((judgement) => judgement.state !== "not_reached");
  switch (submission.finish_reason) {
    case "solution":
      say(bad === -1 && judged, "a solution with a bad or missing step");
      break;
    case "found_error":
      say(bad >= 0, "found_error without an error");
      say(state.scheme.ask_progress === (submission.progress !== undefined), "how far it got");
      say(main.slice(0, bad).every((judgement) => judgement.state !== "not_reached"), "a gap before the error");
      break;
    default:
      say(submission.reason !== "", "a stop without a reason");
  }
  return wrong;
}

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

  it("what is submitted is well-formed, and nothing is submitted while something is left", () => {
    everyState((state, task, seed) => {
      const submission = toSubmission(task, state, "id");
      expect(submission !== null, `seed ${seed}`).toBe(readiness(state).ready);
      if (submission) expect(problemsOf(submission, state), `seed ${seed}`).toEqual([]);
      if (!state.work.stop && !state.scheme.choose_path) {
        expect(submission === null, `seed ${seed}`).toBe(left(state).length > 0 || askedAtError(state) !== null);
      }
    });
  });

  it("a draft brings the work back exactly", () => {
    everyState((state, task, seed) => {
      const stored: unknown = JSON.parse(JSON.stringify(toDraft(state, "2026-01-01T00:00:00Z")));
      const back = withDraft(startState(task), parseDraft(stored)!);
      expect(toSubmission(task, back, "id"), `seed ${seed}`).toEqual(toSubmission(task, state, "id"));
      expect(back.cursor).toBe(state.cursor);
      expect(back.totalMs).toBe(state.totalMs);
    });
  });
});
