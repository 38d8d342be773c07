import type { Step, StepPosition } from "../api/types";
import { markOf, type Answer, type Row, type State, type Work } from "./model";

/**
 * PRM800K phase 1: each position offers candidates side by side. The person takes one or writes a step, and the
 * solution grows by it. Only then does the next position show its candidates.
 */
type Basis = Pick<State, "steps" | "scheme" | "work">;

/** What was taken at a position: a candidate, or the person's own step. */
export type Way = { readonly step: number } | { readonly own: string };

export interface Place {
  readonly entry: StepPosition;
  /** Null until something is taken. */
  readonly way: Way | null;
  /** The candidates still to be rated here. */
  readonly asked: readonly Step[];
  /** Every candidate is bad, and the path cannot continue from a bad step. */
  readonly deadEnd: boolean;
}

/** The positions reached so far, in order: the last is open, or the solution ends there. */
export function placesOf(basis: Basis): Place[] {
  const places: Place[] = [];
  for (const entry of basis.steps) {
    const place = placeAt(basis, entry);
    places.push(place);
    if (!isPassed(place) || basis.work.endsAt === entry.position) break;
  }
  return places;
}

/** Whether the path can continue and nothing is left to rate. */
export function isPassed({ way, asked }: Place): boolean {
  return way !== null && asked.length === 0;
}

function placeAt(basis: Basis, entry: StepPosition): Place {
  const { scheme, work } = basis;
  const way = wayAt(basis, entry);
  const unrated = entry.alternatives.filter((step) => markOf(work, step.id).answer === null);
  const asked = scheme.rate_alternatives || way === null ? unrated : [];
  return { entry, way, asked, deadEnd: way === null && unrated.length === 0 && bestOf(basis, entry).length === 0 };
}

function wayAt(basis: Basis, entry: StepPosition): Way | null {
  const { scheme, work } = basis;
  const chosen = entry.alternatives.find((step) => step.id === work.chosen[entry.position]);
  if (chosen && mayBeTaken(basis, markOf(work, chosen.id).answer)) return { step: chosen.id };
  const own = scheme.ask_own_step ? (work.ownSteps[entry.position] ?? "").trim() : "";
  if (own) return { own };
  const obvious = obviousAt(basis, entry);
  return obvious ? { step: obvious.id } : null;
}

/** The implied choice: the single best candidate; if not all need a rating, the first good one. */
function obviousAt(basis: Basis, entry: StepPosition): Step | null {
  const { scheme, work } = basis;
  const good = entry.alternatives.find((step) => markOf(work, step.id).answer === "good");
  if (good && !scheme.rate_alternatives) return good;
  if (entry.alternatives.some((step) => markOf(work, step.id).answer === null)) return null;
  const best = bestOf(basis, entry);
  return best.length === 1 ? best[0]! : null;
}

/** The candidates with the best rating that may be taken. */
function bestOf(basis: Basis, entry: StepPosition): Step[] {
  const order: Answer[] = ["good", "neutral", "unsure", "bad"];
  for (const answer of order.filter((one) => mayBeTaken(basis, one))) {
    const found = entry.alternatives.filter((step) => markOf(basis.work, step.id).answer === answer);
    if (found.length > 0) return found;
  }
  return [];
}

function mayBeTaken({ scheme }: Basis, answer: Answer | null): boolean {
  return answer !== null && !(answer === "bad" && scheme.stop_at_first_error);
}

export function candidateRows(basis: Basis): Row[] {
  return placesOf(basis).flatMap(({ entry, way }) => {
    const taken = way && "step" in way ? way.step : null;
    return entry.alternatives.map((step, index) => ({
      step,
      position: entry.position,
      main: taken === null ? index === 0 : step.id === taken,
      reached: true,
      candidate: { number: index + 1, of: entry.alternatives.length, taken: step.id === taken },
    }));
  });
}

/** Index into `steps` of the position where the path ends in an error, or of the first bad step taken; or -1. */
export function pathErrorIndex(basis: Basis): number {
  return placesOf(basis).findIndex(({ way, deadEnd }) => {
    const taken = way && "step" in way ? markOf(basis.work, way.step).answer : null;
    return deadEnd || taken === "bad";
  });
}

/** A candidate of the position where only the choice is missing; null if there is none. */
export function undecided(basis: Basis): number | null {
  const last = placesOf(basis).at(-1);
  if (!last || last.way || last.asked.length > 0 || last.deadEnd) return null;
  return (bestOf(basis, last.entry)[0] ?? last.entry.alternatives[0]!).id;
}

/** The positions with a box for the person's own step: where one was begun, or where no candidate will do. */
export function ownStepPositions(basis: Basis): number[] {
  if (!basis.scheme.ask_own_step) return [];
  return placesOf(basis)
    .filter(({ entry, deadEnd }) => deadEnd || basis.work.ownSteps[entry.position] !== undefined)
    .map(({ entry }) => entry.position);
}

/** Takes a candidate and rates it good unless it is already rated. Null if it cannot be taken. */
export function choose(basis: Basis, step: number, position: number): Work | null {
  const { work } = basis;
  const mark = markOf(work, step);
  const answer = mark.answer ?? "good";
  if (!mayBeTaken(basis, answer)) return null;
  const { [position]: _, ...ownSteps } = work.ownSteps;
  return {
    ...work,
    marks: { ...work.marks, [step]: { ...mark, answer } },
    chosen: { ...work.chosen, [position]: step },
    ownSteps,
  };
}

/** The person's own step at a position replaces the candidate taken there. */
export function writeOwn(work: Work, position: number, value: string): Work {
  const { [position]: _, ...chosen } = work.chosen;
  return { ...work, ownSteps: { ...work.ownSteps, [position]: value }, chosen: value.trim() ? chosen : work.chosen };
}

/** Marks the solution as complete after the last step taken, or undoes that; null if none was taken. */
export function complete(basis: Basis): Work | null {
  if (basis.work.endsAt !== null) return { ...basis.work, endsAt: null };
  const last = placesOf(basis).filter(isPassed).at(-1);
  return last ? { ...basis.work, endsAt: last.entry.position } : null;
}
