/** The server's vocabulary; `make types` writes this file. */
export type Answer = "good" | "neutral" | "bad" | "unsure";
export type Rating = 1 | 0 | -1;
export type FinishReason = "solution" | "found_error" | "give_up" | "bad_problem";
export type GivenUp = "give_up" | "bad_problem";
export type StepKind = "reasoning" | "plan" | "tool_call" | "observation" | "edit" | "answer";
export const ANSWERS = [
  "good",
  "neutral",
  "bad",
  "unsure"
] as const;
export const RATINGS = [
  1,
  0,
  -1
] as const;
export const RATING_OF = {
  "good": 1,
  "neutral": 0,
  "bad": -1
} as const;
export const ANSWER_OF = {
  "1": "good",
  "0": "neutral",
  "-1": "bad"
} as const;
export const LONGEST_TEXT = 20000 as const;
export const DEFAULT_KEYS = {
  "good": "1",
  "neutral": "2",
  "bad": "3",
  "unsure": "4",
  "next": "j",
  "previous": "k",
  "first_error": "e",
  "no_error": "0",
  "choose": "x",
  "complete": "n",
  "flag": "f",
  "comment": "c",
  "error_type": "t",
  "clause": "p",
  "consistency": "i",
  "redundant": "d",
  "recovers": "y",
  "critique": "w",
  "progress": "m",
  "own_step": "o",
  "go_to": "q",
  "search": "/",
  "mark": "a",
  "hint": "h",
  "reference": "r",
  "guidelines": "g",
  "break": "b",
  "undo": "z",
  "skip": "s",
  "give_up": "9",
  "bad_problem": "8",
  "decide": "v",
  "returned": "l",
  "keys": "?"
} as const;
