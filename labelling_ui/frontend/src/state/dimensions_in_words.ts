import { text } from "../text";
import { ANSWER_OF } from "../vocabulary";
import type { Beside } from "./dimensions";

/** What is said of a step beside its rating, a phrase each. */
export function besideInWords(beside: Beside): string[] {
  const { clauses, consistent, consistentWith, redundant, recovers, critique, critiqueRatings } = beside;
  const contradicts = consistent === false && consistentWith !== null;
  const rated = Object.entries(critiqueRatings);
  return [
    ...(clauses.length > 0 ? [text.beside.breaks(clauses.join(", "))] : []),
    ...(contradicts ? [text.beside.contradictsStep(consistentWith + 1)] : []),
    ...(consistent ? [text.beside.consistent] : []),
    ...(redundant ? [text.beside.redundant] : []),
    ...(recovers ? [text.beside.recovers] : []),
    ...(critique.trim() ? [`“${critique.trim()}”`] : []),
    ...rated.map(([number, rating]) => `${text.atError.critique(Number(number) + 1)}: ${text.answers[ANSWER_OF[rating]]}`),
  ];
}
