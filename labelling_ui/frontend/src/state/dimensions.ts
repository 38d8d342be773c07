import type { Dimensions, Rating, Scheme, Step, Term } from "../api/types";

/** The dimensions of a step's rating, as in the API; null stands for a given critique that is not rated yet. */
export interface StepDimensions extends Readonly<Omit<Required<Dimensions>, "critique_ratings">> {
  readonly critique_ratings: readonly (Rating | null)[];
}

export const NO_DIMENSIONS: StepDimensions = {
  clauses: [],
  consistent: null,
  consistent_with: null,
  redundant: false,
  recovers: false,
  critique: "",
  critique_ratings: [],
};

export type DimensionAction =
  | { type: "clause"; step: number; name: string }
  | { type: "consistency"; step: number; consistent: boolean | null; with: number | null }
  | { type: "redundant"; step: number }
  | { type: "recovers"; step: number }
  | { type: "critique"; step: number; value: string }
  | { type: "critique_rating"; step: number; number: number; rating: Rating };

/** The dimensions after an action: repeating a clause, a mark or a rating removes it. */
export function reduceDimensions(dimensions: StepDimensions, action: DimensionAction): StepDimensions {
  switch (action.type) {
    case "clause":
      return { ...dimensions, clauses: toggled(dimensions.clauses, action.name) };
    case "consistency":
      return { ...dimensions, consistent: action.consistent, consistent_with: action.consistent === null ? null : action.with };
    case "redundant":
      return { ...dimensions, redundant: !dimensions.redundant };
    case "recovers":
      return { ...dimensions, recovers: !dimensions.recovers };
    case "critique":
      return { ...dimensions, critique: action.value };
    case "critique_rating":
      return { ...dimensions, critique_ratings: rerated(dimensions.critique_ratings, action) };
  }
}

function rerated(ratings: StepDimensions["critique_ratings"], { number, rating }: { number: number; rating: Rating }) {
  const length = Math.max(ratings.length, number + 1);
  const toggled = ratings[number] === rating ? null : rating;
  return Array.from({ length }, (_, index) => (index === number ? toggled : (ratings[index] ?? null)));
}

/** A critique belongs to a bad step and is removed with the rating. */
export function withoutCritique(dimensions: StepDimensions): StepDimensions {
  return { ...dimensions, critique: "", critique_ratings: [] };
}

/** What is missing in the critiques of this step: a rating, or a text; null if nothing. */
export function missingOfCritique(step: Step, dimensions: StepDimensions, asked: Scheme["critique"]): "rating" | "text" | null {
  if (asked === "none" || (asked === "written" && dimensions.critique.trim())) return null;
  if (asked === "written") return "text";
  const ratings = step.critiques.map((_, number) => dimensions.critique_ratings[number]);
  if (ratings.some((rating) => rating == null)) return "rating";
  return ratings.includes(1) || dimensions.critique.trim() ? null : "text";
}

/** The part that the project asks for, and the rest. */
export function splitDimensions(dimensions: StepDimensions, scheme: Scheme): { asked: StepDimensions; rest: StepDimensions } {
  const known = (name: string) => scheme.policy_clauses.some((clause) => clause.name === name);
  const part = (ofAsked: boolean): StepDimensions => {
    const where = <T>(asks: boolean, said: T, nothing: T) => (asks === ofAsked ? said : nothing);
    return {
      clauses: dimensions.clauses.filter((name) => known(name) === ofAsked),
      consistent: where(scheme.consistency, dimensions.consistent, null),
      consistent_with: where(scheme.consistency, dimensions.consistent_with, null),
      redundant: where(scheme.redundancy, dimensions.redundant, false),
      recovers: where(scheme.recovery, dimensions.recovers, false),
      critique: where(scheme.critique !== "none", dimensions.critique, ""),
      critique_ratings: where(scheme.critique === "given", dimensions.critique_ratings, []),
    };
  };
  return { asked: part(true), rest: part(false) };
}

/** The dimensions to submit: without defaults; undefined if nothing is left. */
export function toDimensions(said: StepDimensions, scheme: Scheme, place: { behindError: boolean }): Dimensions | undefined {
  const { asked } = splitDimensions(said, scheme);
  const dangling = asked.consistent === false && asked.consistent_with === null;
  const unrated = asked.critique_ratings.indexOf(null);
  const submitted: StepDimensions = {
    ...asked,
    consistent: dangling ? null : asked.consistent, // a contradiction without its earlier step does not count yet
    recovers: place.behindError && asked.recovers,
    critique: asked.critique.trim(),
    critique_ratings: asked.critique_ratings.slice(0, unrated < 0 ? undefined : unrated), // a list may not have gaps
  };
  const isDefault = (name: keyof StepDimensions) => JSON.stringify(submitted[name]) === JSON.stringify(NO_DIMENSIONS[name]);
  const names = (Object.keys(submitted) as (keyof StepDimensions)[]).filter((name) => !isDefault(name));
  return names.length > 0 ? Object.fromEntries(names.map((name) => [name, submitted[name]])) : undefined;
}

/** Terms by group, in the order in which the groups first appear. */
export function grouped(terms: readonly Term[]): { group: string; terms: Term[] }[] {
  const groups = new Map<string, Term[]>();
  for (const term of terms) groups.set(term.group, [...(groups.get(term.group) ?? []), term]);
  return [...groups].map(([group, inGroup]) => ({ group, terms: inGroup }));
}

function toggled(names: string[], name: string): string[] {
  return names.includes(name) ? names.filter((other) => other !== name) : [...names, name];
}
