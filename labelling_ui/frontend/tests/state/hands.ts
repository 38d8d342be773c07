import type { Submission } from "../../src/api/types";
import type { Action, Answer, State } from "../../src/state/model";
import { reduce, startState } from "../../src/state/reducer";
import { sampleTask, seeded, terms } from "../sample";

/** Random actions, and the faults for which the server would reject the resulting label. */

const ANSWERS: Answer[] = ["good", "neutral", "bad", "unsure"];
export const CASES = 300;

export function randomTask(random: () => number) {
  const below = (n: number) => Math.floor(random() * n);
  const stops = random() < 0.6;
  const alternatives = Array.from({ length: 1 + below(6) }, () => 1 + below(3));
  const hint = { reveal: (["reached", "rated", "on_request"] as const)[below(3)]!, positions: alternatives.map((_, position) => position) };
  return sampleTask({
    critiques: below(3),
    alternatives,
    hint: random() < 0.3 ? hint : null,
    scheme: {
      stop_at_first_error: stops,
      rate_alternatives: random() < 0.6,
      ask_own_step: random() < 0.5,
      offer_accepting: random() < 0.8,
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

/** The step of a random action, its position, and the generator. */
interface Reach {
  step: number;
  position: number;
  state: State;
  random: () => number;
  below: (n: number) => number;
}

/** A random action of each kind; the types ensure that no kind is missing. */
const ANY: { [Kind in Action["type"]]: (reach: Reach) => Extract<Action, { type: Kind }> } = {
  rate: ({ step, below }) => ({ type: "rate", step, answer: ANSWERS[below(4)]! }),
  first_error: ({ step, state, random }) => ({ type: "first_error", step, seen: someSteps(state, random) }),
  no_error: ({ state, random }) => ({ type: "no_error", seen: someSteps(state, random) }),
  flag: ({ step }) => ({ type: "flag", step }),
  error_type: ({ step, below }) => ({ type: "error_type", step, value: ["slip", "wrong operation", ""][below(3)]! }),
  step_comment: ({ step, below }) => ({ type: "step_comment", step, value: `note ${below(9)}` }),
  mark_span: ({ step, below }) => ({ type: "mark_span", step, start: below(2), end: 1 + below(3) }),
  span_comment: ({ below, ...at }) => ({ type: "span_comment", step: marked(at), index: 0, value: `here ${below(9)}` }),
  span_error_type: (at) => ({ type: "span_error_type", step: marked(at), index: 0, value: "slip" }),
  remove_span: ({ below, ...at }) => ({ type: "remove_span", step: marked(at), index: below(2) }),
  hint: ({ step }) => ({ type: "hint", step }),
  score: ({ position, random }) => ({ type: "score", position, score: random() }),
  clause: ({ step, below }) => ({ type: "clause", step, name: below(2) ? "1.1" : "1.2" }),
  consistency: ({ step, below }) => ({
    type: "consistency",
    step,
    consistent: [true, false, null][below(3)]!,
    with: [null, 0][below(2)]!,
  }),
  redundant: ({ step }) => ({ type: "redundant", step }),
  recovers: ({ step }) => ({ type: "recovers", step }),
  critique: ({ step, below }) => ({ type: "critique", step, value: ["", " ", "the sum is wrong"][below(3)]! }),
  critique_rating: ({ step, below }) => ({
    type: "critique_rating",
    step,
    number: below(2),
    rating: ([1, 0, -1] as const)[below(3)]!,
  }),
  progress: ({ below }) => ({ type: "progress", value: below(5) }),
  own_step: ({ position, below }) => ({ type: "own_step", position, value: below(2) ? "mine" : " " }),
  write_own: ({ position }) => ({ type: "write_own", position }),
  choose: ({ step }) => ({ type: "choose", step }),
  complete: () => ({ type: "complete" }),
  onward: () => ({ type: "onward" }),
  comment: ({ below }) => ({ type: "comment", value: `whole ${below(9)}` }),
  dispute_reference: () => ({ type: "dispute_reference" }),
  stop: ({ below }) => ({ type: "stop", kind: below(2) ? "give_up" : "bad_problem", reason: "because" }),
  continue: () => ({ type: "continue" }),
  go: ({ step }) => ({ type: "go", step }),
  move: ({ below }) => ({ type: "move", by: below(5) - 2 }),
  undo: () => ({ type: "undo" }),
  redo: () => ({ type: "redo" }),
  spend: ({ below }) => ({ type: "spend", ms: below(900) }),
};
/** A step with a marked span, if there is one. */
function marked({ state, step }: Pick<Reach, "state" | "step">): number {
  return state.steps.flatMap((at) => at.alternatives).find(({ id }) => state.work.marks[id]?.spans.length)?.id ?? step;
}

export const KINDS = Object.keys(ANY) as Action["type"][];
/** Ratings are the most frequent actions, and several actions concern one step. */
const RATES = 0.35;
const STAYS = 0.3;

export function randomAction(state: State, random: () => number): Action {
  const below = (n: number) => Math.floor(random() * n);
  const anywhere = state.steps[below(state.steps.length)]!;
  const here = state.steps.find(({ alternatives }) => alternatives.some(({ id }) => id === state.cursor));
  const { position, alternatives } = here && random() < STAYS ? here : anywhere;
  const step = alternatives[below(alternatives.length)]!.id;
  const kind = random() < RATES ? "rate" : KINDS[below(KINDS.length)]!;
  return ANY[kind]({ step, position, state, random, below });
}

/** The steps that the person has seen: all, or about every other one. */
export function someSteps({ steps }: State, random: () => number): Set<number> {
  const all = random() < 0.6;
  return new Set(steps.flatMap((at) => at.alternatives.map((step) => step.id)).filter(() => all || random() < 0.5));
}

/** Runs random actions on random tasks; passes every state to `check`, with the action and the state before it. */
export function everyState(
  check: (state: State, task: ReturnType<typeof sampleTask>, seed: number, by: Action, before: State) => void,
) {
  for (let seed = 1; seed <= CASES; seed += 1) {
    const random = seeded(seed);
    const task = randomTask(random);
    let state = startState(task);
    for (let i = 0; i < 25; i += 1) {
      const [before, by] = [state, randomAction(state, random)];
      state = reduce(before, by);
      check(state, task, seed, by, before);
    }
  }
}

/** The faults for which the server would reject a chosen path. */
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

export function problemsOf(submission: Submission, state: State): string[] {
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
      say(!judgement.accepted || (judgement.rating === 1 && state.scheme.offer_accepting), "accepted, and not by the rule");
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
