import type { FinishReason, Step, StepPosition } from "../api/types";
import { candidateRows, ownStepPositions, pathErrorIndex, placesOf, undecided } from "./choosing";
import { missingOfCritique } from "./dimensions";
import { markOf, type Row, type State } from "./model";

type Basis = Pick<State, "steps" | "scheme" | "work">;

function mainOf(entry: StepPosition): Step {
  const step = entry.alternatives[0];
  if (!step) throw new Error(`Position ${entry.position} has no step.`);
  return step;
}

/** Index into `steps` of the first step of the solution rated bad, or -1. */
export function firstErrorIndex(basis: Basis): number {
  if (basis.scheme.choose_path) return pathErrorIndex(basis);
  return basis.steps.findIndex((entry) => markOf(basis.work, mainOf(entry).id).answer === "bad");
}

/** Index of the last position to be rated. */
function lastReached(basis: Basis): number {
  const error = firstErrorIndex(basis);
  return basis.scheme.stop_at_first_error && error >= 0 ? error : basis.steps.length - 1;
}

/** The rows to show, in reading order. Alternatives are shown below a step rated bad. */
export function rows(basis: Basis): Row[] {
  if (basis.scheme.choose_path) return candidateRows(basis);
  const last = lastReached(basis);
  return basis.steps.flatMap((entry, index) => {
    const reached = index <= last;
    const main = mainOf(entry);
    const open = reached && basis.scheme.rate_alternatives && markOf(basis.work, main.id).answer === "bad";
    return entry.alternatives
      .filter((step) => step === main || open)
      .map((step) => ({ step, position: entry.position, main: step === main, reached }));
  });
}

/** Steps still to be rated, in reading order. */
export function left(basis: Basis): Row[] {
  if (basis.scheme.choose_path) {
    const asked = new Set(placesOf(basis).flatMap((place) => place.asked));
    return rows(basis).filter((row) => asked.has(row.step));
  }
  return rows(basis).filter((row) => row.reached && markOf(basis.work, row.step.id).answer === null);
}

/**
 * The positions that need the person's own step: that of the error that ends the path, or any that may continue by one.
 */
export function ownStepsAt(basis: Basis): number[] {
  if (basis.scheme.choose_path) return ownStepPositions(basis);
  const error = firstErrorIndex(basis);
  const { ask_own_step: asked, stop_at_first_error: stops } = basis.scheme;
  const at = basis.steps[error];
  return asked && stops && at ? [at.position] : [];
}

/** The project's questions about the first error, in order. */
export type ErrorQuestion = "progress" | "critique";

/** The missing answer about the first error and its step; null if none is missing. */
export function openQuestion(basis: Basis): { what: ErrorQuestion; step: number } | null {
  const at = basis.steps[firstErrorIndex(basis)];
  const step = at && rows(basis).find((row) => row.position === at.position && row.main)?.step;
  if (!step) return null;
  if (basis.scheme.ask_progress && basis.work.progress === null) return { what: "progress", step: step.id };
  const { dimensions } = markOf(basis.work, step.id);
  return missingOfCritique(step, dimensions, basis.scheme.critique) ? { what: "critique", step: step.id } : null;
}

type Readiness =
  | { ready: true; finish: FinishReason; firstError: number | null }
  | { ready: false; why: "left"; count: number; next: number }
  | { ready: false; why: "asked"; what: ErrorQuestion; next: number }
  | { ready: false; why: "choose"; next: number }
  | { ready: false; why: "reason" };

/** Whether and how the work can be submitted, and if not, what is missing. Positions count from 0. */
export function readiness(basis: Basis): Readiness {
  const { stop } = basis.work;
  const error = firstErrorIndex(basis);
  const firstError = error < 0 ? null : (basis.steps[error]?.position ?? null);
  if (stop) {
    return stop.reason.trim() ? { ready: true, finish: stop.kind, firstError } : { ready: false, why: "reason" };
  }
  const missing = left(basis);
  const next = missing[0];
  if (next) return { ready: false, why: "left", count: missing.length, next: next.step.id };
  const choice = basis.scheme.choose_path ? undecided(basis) : null;
  if (choice !== null) return { ready: false, why: "choose", next: choice };
  const asked = openQuestion(basis);
  if (asked) return { ready: false, why: "asked", what: asked.what, next: asked.step };
  return { ready: true, finish: error < 0 ? "solution" : "found_error", firstError };
}

/** Whether steps can be accepted together: not when a path is chosen or every step must be rated alone. */
export function mayAccept({ scheme }: Basis): boolean {
  return scheme.offer_accepting && !scheme.choose_path;
}

/**
 * The steps that one key rates good, in reading order: those before the step `error`, if named, else all remaining.
 * They have no rating; flagged steps are left out.
 */
export function acceptable(basis: Basis, error: number | null = null): Row[] {
  if (!mayAccept(basis)) return [];
  const before = error === null ? Infinity : (errorRow(basis, error)?.position ?? 0);
  return left(basis).filter((row) => row.main && row.position < before && !markOf(basis.work, row.step.id).flagged);
}

/** The first of them not seen to its end; null if all were. */
export function firstUnseen(basis: Basis, seen: ReadonlySet<number>, error: number | null = null): Row | null {
  return acceptable(basis, error).find((row) => !seen.has(row.step.id)) ?? null;
}

/** The row of a step that can be the first error; alternatives and unreached steps cannot. */
export function errorRow(basis: Basis, step: number): Row | undefined {
  return rows(basis).find((row) => row.step.id === step && row.main && row.reached);
}
