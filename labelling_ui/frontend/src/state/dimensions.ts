import type { Dimensions, Rating, Scheme, Step, Term } from "../api/types";

/**
 * What is said of a step beside its rating. `consistentWith` is an earlier position: of the step that this one agrees
 * with, or contradicts where `consistent` is false. `critiqueRatings` are by the number of the given critique.
 */
export interface Beside {
  readonly clauses: readonly string[];
  readonly consistent: boolean | null;
  readonly consistentWith: number | null;
  readonly redundant: boolean;
  readonly recovers: boolean;
  readonly critique: string;
  readonly critiqueRatings: Readonly<Record<number, Rating>>;
}

export const NOTHING_BESIDE: Beside = {
  clauses: [],
  consistent: null,
  consistentWith: null,
  redundant: false,
  recovers: false,
  critique: "",
  critiqueRatings: {},
};

export type BesideAction =
  | { type: "clause"; step: number; name: string }
  | { type: "consistency"; step: number; consistent: boolean | null; with: number | null }
  | { type: "redundant"; step: number }
  | { type: "recovers"; step: number }
  | { type: "critique"; step: number; value: string }
  | { type: "critique_rating"; step: number; number: number; rating: Rating };

/** What is said after the action: a clause, a mark or a rating that stands already is taken back by saying it again. */
export function besideAfter(beside: Beside, action: BesideAction): Beside {
  switch (action.type) {
    case "clause":
      return { ...beside, clauses: toggled(beside.clauses, action.name) };
    case "consistency":
      return { ...beside, consistent: action.consistent, consistentWith: action.consistent === null ? null : action.with };
    case "redundant":
      return { ...beside, redundant: !beside.redundant };
    case "recovers":
      return { ...beside, recovers: !beside.recovers };
    case "critique":
      return { ...beside, critique: action.value };
    case "critique_rating": {
      const { [action.number]: before, ...others } = beside.critiqueRatings;
      return {
        ...beside,
        critiqueRatings: before === action.rating ? others : { ...others, [action.number]: action.rating },
      };
    }
  }
}

/** A critique belongs to a bad step: it goes with the rating. */
export function withoutCritique(beside: Beside): Beside {
  return { ...beside, critique: "", critiqueRatings: {} };
}

/** What is missing of a critique of this step: a rating of a given one, or one to be written; null where it is whole. */
export function missingOfCritique(step: Step, beside: Beside, asked: Scheme["critique"]): "rating" | "text" | null {
  if (asked === "none" || (asked === "written" && beside.critique.trim())) return null;
  if (asked === "written") return "text";
  const ratings = step.critiques.map((_, number) => beside.critiqueRatings[number]);
  if (ratings.includes(undefined)) return "rating";
  return ratings.includes(1) || beside.critique.trim() ? null : "text";
}

/** What of it the project asks about, and the rest: each part says nothing of the other's. */
export function splitBeside(beside: Beside, scheme: Scheme): { asked: Beside; rest: Beside } {
  const known = (name: string) => scheme.policy_clauses.some((clause) => clause.name === name);
  const part = (ofAsked: boolean): Beside => {
    const where = <T>(asks: boolean, said: T, nothing: T) => (asks === ofAsked ? said : nothing);
    return {
      clauses: beside.clauses.filter((name) => known(name) === ofAsked),
      consistent: where(scheme.consistency, beside.consistent, null),
      consistentWith: where(scheme.consistency, beside.consistentWith, null),
      redundant: where(scheme.redundancy, beside.redundant, false),
      recovers: where(scheme.recovery, beside.recovers, false),
      critique: where(scheme.critique !== "none", beside.critique, ""),
      critiqueRatings: where(scheme.critique === "given", beside.critiqueRatings, {}),
    };
  };
  return { asked: part(true), rest: part(false) };
}

/** As it is handed in, and as far as the project asks for it; undefined where nothing is said. */
export function toDimensions(beside: Beside, scheme: Scheme, place: { behindError: boolean }): Dimensions | undefined {
  const { asked } = splitBeside(beside, scheme);
  const critique = asked.critique.trim();
  const said: Dimensions = {
    ...(asked.clauses.length > 0 && { clauses: [...asked.clauses] }),
    ...consistencyOf(asked),
    ...(asked.redundant && { redundant: true }),
    ...(place.behindError && asked.recovers && { recovers: true }),
    ...(critique && { critique }),
    ...ratingsOf(asked),
  };
  return Object.keys(said).length > 0 ? said : undefined;
}

/** A contradiction whose earlier step is not pointed at yet is not one. */
function consistencyOf({ consistent, consistentWith }: Beside): Dimensions {
  if (consistent === null || (!consistent && consistentWith === null)) return {};
  return { consistent, ...(consistentWith !== null && { consistent_with: consistentWith }) };
}

/** They are handed in as a list: what stands behind one that is not rated cannot be said. */
function ratingsOf({ critiqueRatings }: Beside): Dimensions {
  const ratings: Rating[] = [];
  for (let number = 0; critiqueRatings[number] !== undefined; number += 1) ratings.push(critiqueRatings[number]!);
  return ratings.length > 0 ? { critique_ratings: ratings } : {};
}

/** The way back from what was handed in. */
export function fromDimensions(said: Dimensions | undefined): Beside {
  return {
    clauses: said?.clauses ?? [],
    consistent: said?.consistent ?? null,
    consistentWith: said?.consistent_with ?? null,
    redundant: said?.redundant ?? false,
    recovers: said?.recovers ?? false,
    critique: said?.critique ?? "",
    critiqueRatings: Object.fromEntries((said?.critique_ratings ?? []).map((rating, number) => [number, rating])),
  };
}

/** Terms under their groups, in the order in which each group comes first. */
export function grouped(terms: readonly Term[]): { group: string; terms: Term[] }[] {
  const groups = new Map<string, Term[]>();
  for (const term of terms) groups.set(term.group, [...(groups.get(term.group) ?? []), term]);
  return [...groups].map(([group, inGroup]) => ({ group, terms: inGroup }));
}

function toggled(names: readonly string[], name: string): readonly string[] {
  return names.includes(name) ? names.filter((other) => other !== name) : [...names, name];
}
