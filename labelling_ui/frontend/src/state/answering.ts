import { left, rows } from "./derived";
import { withoutCritique } from "./dimensions";
import { type Answer, type Mark, markOf, type Row, type State, type Work } from "./model";
import { withoutErrorTypes } from "./spans";

type Basis = Pick<State, "steps" | "scheme" | "work">;

/** The mark with an answer given to this step alone. Error types and a critique belong to a bad one: they go with it. */
export function answered(mark: Mark, answer: Answer): Mark {
  if (answer === "bad") return { ...mark, answer, accepted: false };
  return {
    ...mark,
    answer,
    accepted: false,
    errorType: "",
    spans: withoutErrorTypes(mark.spans),
    beside: withoutCritique(mark.beside),
  };
}

export function withMark(work: Work, step: number, mark: Mark): Work {
  return { ...work, marks: { ...work.marks, [step]: mark } };
}

/** The work with these steps good, accepted with others. */
export function accepting(work: Work, steps: readonly Row[]): Work {
  return steps.reduce(
    (after, { step }) => withMark(after, step.id, { ...answered(markOf(after, step.id), "good"), accepted: true }),
    work,
  );
}

/** Whether steps can be accepted together: where a path is chosen, or every step asked for by itself, they cannot. */
export function mayAccept({ scheme }: Basis): boolean {
  return scheme.offer_accepting && !scheme.choose_path;
}

/**
 * The steps that one key finds good, in reading order: those before the step `error`, where one is named, else all that
 * are left. Nothing was said of them; of a flagged one something was.
 */
export function acceptable(basis: Basis, error: number | null = null): Row[] {
  if (!mayAccept(basis)) return [];
  const before = error === null ? Infinity : (errorRow(basis, error)?.position ?? 0);
  return left(basis).filter((row) => row.main && row.position < before && !markOf(basis.work, row.step.id).flagged);
}

/** The first of them that was not seen to its end; null where all were. */
export function firstUnseen(basis: Basis, seen: ReadonlySet<number>, error: number | null = null): Row | null {
  return acceptable(basis, error).find((row) => !seen.has(row.step.id)) ?? null;
}

/** The line of a step that can be the solution's first error; another completion, or one not reached, cannot. */
export function errorRow(basis: Basis, step: number): Row | undefined {
  return rows(basis).find((row) => row.step.id === step && row.main && row.reached);
}
