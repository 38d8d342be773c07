import { describe, expect, it } from "vitest";
import type { Scheme, Task } from "../../src/api/types";
import { readiness } from "../../src/state/derived";
import { askedNow, fitting, parseDraft, toDraft, withDraft } from "../../src/state/draft";
import { markOf, offers, type Action, type State } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { asDraft, toSubmission } from "../../src/state/submission";
import { sampleTask, seeded, terms } from "../sample";
import { problemsOf, randomAction, randomTask } from "./hands";

/** The state of a page that continues a draft of another scheme. */
function resumed(before: State, task: Task) {
  const draft = parseDraft(JSON.parse(JSON.stringify(toDraft(before, ""))))!;
  const fresh = startState(task);
  const { work, moved } = fitting(draft.work, draft.asked, fresh);
  return { state: withDraft(fresh, { ...draft, work }), moved };
}

function under(scheme: Partial<Scheme>, ...actions: Action[]) {
  const task = sampleTask({ alternatives: [1, 1, 1], critiques: 1, scheme });
  return actions.reduce(reduce, startState(task));
}

function now(before: State, scheme: Partial<Scheme>) {
  const { state, moved } = resumed(before, sampleTask({ alternatives: before.steps.map(({ alternatives }) => alternatives.length), critiques: 1, scheme }));
  return { ...state, moved, comments: state.steps.map(({ alternatives }) => markOf(state.work, alternatives[0]!.id).comment) };
}

const bad: Action = { type: "rate", step: 10, answer: "bad" };

it("reads a stored draft whose optional parts are null", () => {
  const stored = { ...toDraft(startState(sampleTask()), ""), hints_seen: null, edited_at: null };
  const draft = parseDraft(stored)!;
  expect([draft.hints_seen, draft.edited_at]).toEqual([[], ""]);
});

describe("what a project asks no more", () => {
  it("is an answer: it stands in words, and the step is asked about again", () => {
    const neutral = { name: "Meh", help: "", colour: null };
    const look = { name: "", help: "", colour: null };
    const answers = { good: look, neutral, bad: look, unsure: look };
    const state = now(under({}, { type: "step_comment", step: 0, value: "why?" }, { type: "rate", step: 0, answer: "neutral" }), {
      offer_neutral: false,
      answers,
    });
    expect(state.comments).toEqual(["why? [Meh]", "", ""]);
    expect(readiness(state)).toMatchObject({ ready: false, next: 0 });
    expect(state.moved).toEqual([{ step: 0, position: 0, words: "Meh" }]);
  });

  it("is a type of error, also of marked text: the mark stays", () => {
    const span: Action[] = [
      { type: "mark_span", step: 10, start: 2, end: 5 },
      { type: "span_error_type", step: 10, index: 0, value: "slip" },
      { type: "span_comment", step: 10, index: 0, value: "here" },
    ];
    const begun = under({ error_types: terms("slip") }, bad, { type: "error_type", step: 10, value: "slip" }, ...span);
    const state = now(begun, { error_types: terms("typo") });
    expect(state.comments[1]).toBe("[slip, marked characters 3 to 5 slip]");
    expect(markOf(state.work, 10)).toMatchObject({ answer: "bad", error_type: "", spans: [{ start: 2, end: 5, error_type: "", comment: "here" }] });
  });

  it("is said beside a rating", () => {
    const all = { consistency: true, redundancy: true, policy_clauses: terms("1.1", "1.2"), critique: "given" as const };
    const begun = under(
      all,
      bad,
      { type: "clause", step: 10, name: "1.1" },
      { type: "clause", step: 10, name: "1.2" },
      { type: "consistency", step: 10, consistent: false, with: 0 },
      { type: "redundant", step: 10 },
      { type: "critique", step: 10, value: "wrong sum" },
      { type: "critique_rating", step: 10, number: 0, rating: -1 },
    );
    const state = now(begun, { policy_clauses: terms("1.2"), critique: "written" });
    expect(state.comments[1]).toBe("[Breaks 1.1, Contradicts step 1, Redundant, Explanation 1: bad]");
    expect(markOf(state.work, 10).dimensions).toMatchObject({ clauses: ["1.2"], critique: "wrong sum", redundant: false });
  });

  it("is what was said behind an error that ends the work now", () => {
    const begun = under({ stop_at_first_error: false }, bad, { type: "rate", step: 20, answer: "unsure" }, { type: "flag", step: 20 });
    expect(now(begun, {}).comments).toEqual(["", "[Step 3: unsure, flagged]", ""]);
    expect(now(begun, { stop_at_first_error: false }).moved).toEqual([]);
  });

  it("is how far it got", () => {
    const state = now(under({ ask_progress: true }, bad, { type: "progress", value: 2 }), {});
    expect(state.comments[1]).toBe("[how far it got: halfway]");
    expect(state.work.progress).toBeNull();
  });

  it("is the choice of a path, and a step of one's own", () => {
    const before = { choose_path: true, ask_own_step: true, stop_at_first_error: false };
    const task = sampleTask({ alternatives: [2, 2, 1], scheme: before });
    const actions: Action[] = [
      { type: "rate", step: 0, answer: "good" },
      { type: "choose", step: 1 },
      { type: "own_step", position: 1, value: "my own" },
      { type: "rate", step: 10, answer: "bad" },
      { type: "rate", step: 11, answer: "bad" },
      { type: "complete" },
    ];
    const state = now(actions.reduce(reduce, startState(task)), { ask_own_step: false, rate_alternatives: false });
    expect(state.work).toMatchObject({ chosen: {}, endsAt: null });
    const told = [...state.comments, state.work.comment].join(" ");
    for (const words of ["continued with candidate 2", "“my own”", "ended at step 2", "Alternative for step 2 (1): bad"]) {
      expect(told).toContain(words);
    }
  });
});

it("goes for a label that is revised, too", () => {
  const task = sampleTask({ alternatives: [1, 2], scheme: { error_types: terms("slip") } });
  const actions: Action[] = [
    { type: "rate", step: 0, answer: "good" },
    { type: "rate", step: 10, answer: "bad" },
    { type: "error_type", step: 10, value: "slip" },
    { type: "rate", step: 11, answer: "good" },
  ];
  const label = toSubmission(task, actions.reduce(reduce, startState(task)), "id")!;
  const { work, asked } = asDraft(task, { ...label, revision: 1, submitted_at: "" });
  const { moved } = fitting(work, asked, startState(sampleTask({ alternatives: [1, 2], scheme: { rate_alternatives: false } })));
  expect(moved).toEqual([{ step: 10, position: 1, words: "slip; Alternative for step 2 (1): good" }]);
});

describe("whatever was begun and whatever is asked now", () => {
  const CASES = 150;

  /** Random work under one scheme, and the same solution under another. */
  function everyChange(check: (before: State, task: Task, random: () => number, seed: number) => void) {
    for (let seed = 1; seed <= CASES; seed += 1) {
      const random = seeded(seed);
      const task = randomTask(random);
      let state = startState(task);
      for (let i = 0; i < 30; i += 1) {
        const action = randomAction(state, random);
        if (isAsked(action, task.scheme)) state = reduce(state, action);
      }
      const scheme = { ...randomTask(random).scheme, offer_neutral: random() < 0.7, offer_unsure: random() < 0.7 };
      check(state, { ...task, scheme: random() < 0.5 ? { ...scheme, error_types: [], policy_clauses: [] } : scheme }, random, seed);
    }
  }

  it("nothing changes where the scheme did not", () => {
    everyChange((before, _, __, seed) => {
      const { work, moved } = fitting(before.work, askedNow(before), before);
      expect(work, `seed ${seed}`).toBe(before.work);
      expect(moved).toEqual([]);
    });
  });

  it("all that was said is still said, and told where it moved", () => {
    everyChange((before, task, _, seed) => {
      const { state, moved } = resumed(before, task);
      const said = JSON.stringify(state.work);
      for (const id of askedNow(before).steps) {
        const mark = markOf(before.work, id);
        for (const words of [mark.error_type, mark.comment.trim(), mark.dimensions.critique.trim(), ...mark.dimensions.clauses]) {
          expect(said, `seed ${seed}`).toContain(words);
        }
        if (mark.answer && !offers(task.scheme, mark.answer)) expect(said, `seed ${seed}`).toMatch(new RegExp(`\\[[^\\]]*${mark.answer}`));
      }
      for (const { step, words } of moved) {
        expect(step === null ? state.work.comment : markOf(state.work, step).comment, `seed ${seed}`).toContain(`[${words}]`);
      }
    });
  });

  it("fits, and fitted once more it stays the same", () => {
    everyChange((before, task, _, seed) => {
      const { state } = resumed(before, task);
      expect(fitting(state.work, askedNow(state), state).work, `seed ${seed}`).toBe(state.work);
    });
  });

  it("can be handed in, once what is asked now is said", () => {
    everyChange((before, task, random, seed) => {
      let { state } = resumed(before, task);
      for (let i = 0; i < 200 && !readiness(state).ready; i += 1) state = reduce(state, next(state, random));
      const submission = toSubmission(task, state, "id");
      expect(submission, `seed ${seed}`).not.toBeNull();
      expect(problemsOf(submission!, state), `seed ${seed}`).toEqual([]);
      const { scheme } = task;
      for (const said of submission!.path.flatMap(({ ratings }) => ratings)) {
        expect(scheme.error_types.map(({ name }) => name).concat(""), `seed ${seed}`).toContain(said.error_type);
        expect(scheme.offer_neutral || said.rating !== 0, `seed ${seed}`).toBe(true);
        expect(scheme.offer_unsure || said.state !== "unsure", `seed ${seed}`).toBe(true);
      }
    });
  });
});

/** The next action that the page asks for. */
function next(state: State, random: () => number): Action {
  const ready = readiness(state);
  if (ready.ready || ready.why === "reason") return { type: "stop", kind: "give_up", reason: "because" };
  if (ready.why === "choose") return random() < 0.5 ? { type: "choose", step: ready.next } : { type: "stop", kind: "give_up", reason: "because" };
  if (ready.why === "left") return { type: "rate", step: ready.next, answer: random() < 0.6 ? "good" : "bad" };
  return ready.what === "progress"
    ? { type: "progress", value: 1 }
    : random() < 0.5
      ? { type: "critique", step: ready.next, value: "wrong" }
      : { type: "critique_rating", step: ready.next, number: Math.floor(random() * 2), rating: 0 };
}

/** Whether the page offers it. */
function isAsked(action: Action, scheme: Scheme): boolean {
  switch (action.type) {
    case "rate":
      return offers(scheme, action.answer);
    case "consistency":
      return scheme.consistency;
    case "redundant":
      return scheme.redundancy;
    case "recovers":
      return scheme.recovery;
    case "critique":
      return scheme.critique !== "none";
    case "critique_rating":
      return scheme.critique === "given";
    case "progress":
      return scheme.ask_progress;
    case "own_step":
      return scheme.ask_own_step;
    default:
      return true;
  }
}
