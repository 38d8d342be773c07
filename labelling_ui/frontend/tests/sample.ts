import type { Scheme, StepPosition, Task, Term } from "../src/api/types";

const LOOK = { name: "", help: "", colour: null };

export const SCHEME: Scheme = {
  stop_at_first_error: true,
  rate_alternatives: true,
  ask_own_step: false,
  choose_path: false,
  ask_progress: false,
  critique: "none",
  offer_neutral: true,
  offer_unsure: true,
  offer_accepting: true,
  answers: { good: LOOK, neutral: LOOK, bad: LOOK, unsure: LOOK },
  keys: {},
  error_types: [],
  policy_clauses: [],
  consistency: false,
  redundancy: false,
  recovery: false,
  reference: "shown",
};

export function terms(...names: string[]): Term[] {
  return names.map((name) => ({ name, help: "", group: "" }));
}

/**
 * A task for tests. `alternatives` lists how many completions stand at each position; the step id is
 * 10 * position + alternative. Each has the `critiques`.
 */
export function sampleTask({
  lease = 1,
  alternatives = [1, 1, 1],
  critiques = 0,
  scheme = {},
  hint = null,
  draft = null,
}: {
  lease?: number;
  alternatives?: number[];
  critiques?: number;
  scheme?: Partial<Scheme>;
  hint?: Task["hint"];
  draft?: Task["draft"];
} = {}): Task {
  const steps: StepPosition[] = alternatives.map((count, position) => ({
    position,
    alternatives: Array.from({ length: count }, (_, alternative) => ({
      id: 10 * position + alternative,
      alternative,
      text: `step ${position}.${alternative}`,
      kind: "reasoning" as const,
      critiques: Array.from({ length: critiques }, (_, number) => `critique ${number}`),
    })),
  }));
  return {
    lease: { id: lease, expires_at: "2030-01-01T00:00:00Z" },
    guidelines: 0,
    solution: { id: 100 + lease, steps, generator: null },
    problem: { id: 1, text: "What is 1 + 1?", domain: "algebra", reference_answer: "2", reference_solution: null },
    scheme: { ...SCHEME, ...scheme },
    hint,
    draft,
  };
}

/** The steps of a sample, all read to the end. */
export const SEEN: ReadonlySet<number> = new Set(Array.from({ length: 100 }, (_, id) => id));

/** A small seeded generator (mulberry32), so that a failing random case can be run again. */
export function seeded(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
