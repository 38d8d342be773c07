import type { Answer, Stop } from "./state/model";
import type { StepKind } from "./api/types";

/** Every word the workbench says, in one place so that it can be said in another language. */

const number = new Intl.NumberFormat("en");
const count = (n: number, one: string, many = `${one}s`) => `${number.format(n)} ${n === 1 ? one : many}`;

const answers: Record<Answer, string> = { good: "good", neutral: "neutral", bad: "bad", unsure: "unsure" };

const kinds: Record<StepKind, string> = {
  reasoning: "Reasoning",
  plan: "Plan",
  tool_call: "Tool call",
  observation: "Observation",
  edit: "Edit",
  answer: "Answer",
};

export const text = {
  answers,
  kinds,
  answerHelp: {
    good: "Correct, and moves on",
    neutral: "Not wrong, but no help",
    bad: "Wrong, or cannot be followed",
    unsure: "You cannot tell",
  } satisfies Record<Answer, string>,
  step: (n: number) => `Step ${n}`,
  otherCompletion: (n: number) => `Other way to take step ${n}`,
  header: {
    brand: "Stepmark",
    labelling: "labelling",
    today: (n: number) => `${number.format(n)} today`,
    each: (seconds: number) =>
      seconds < 90 ? `${Math.round(seconds)} s each` : `${(seconds / 60).toFixed(1)} min each`,
    keys: "Keys",
    guidelines: "Guidelines",
    saved: "saved",
    saving: "saving…",
    unreachable: "not saved yet",
    signed_out: "not saved yet",
    local: "in this browser only",
  },
  problem: {
    title: "Problem",
    reference: "Reference answer",
    referenceSolution: "Reference solution",
    showReference: "Show the reference",
    hideReference: "Hide the reference",
    disputed: "You say the reference is wrong",
    dispute: "The reference is wrong",
    stops: { bad_problem: "Bad problem", give_up: "Give up" } satisfies Record<Stop["kind"], string>,
    skip: "Skip",
    note: "Note on the whole solution",
    addNote: "Add a note",
    unfold: "Show the whole problem",
    fold: "Fold the problem",
  },
  solution: {
    title: "Solution",
    notReached: "Not rated: it comes after the first error",
    rating: (label: string) => `Rating of ${label.toLowerCase()}`,
    firstError: "First error",
    firstErrorHelp: "Mark this step bad and accept what came before",
    comment: "Comment",
    commentPlaceholder: "What should the reader know about this step?",
    flag: "Flag",
    flagged: "Flagged",
    errorType: "Type of error",
    ownStep: "What should this step have said?",
    ownStepPlaceholder: "Write the step yourself; $…$ makes formulas.",
    map: "Map of the ratings",
    mapStep: (n: number, said: string) => `Step ${n}: ${said}`,
    unrated: "not rated",
  },
  submit: {
    submit: "Submit",
    left: (n: number) => `${count(n, "step")} left to rate, or mark the first error`,
    leftAll: (n: number) => `${count(n, "step")} left to rate`,
    leftOther: (n: number) => `${count(n, "other completion")} left to rate`,
    goThere: "Go there",
    noError: "Every step is rated, no error",
    foundError: (n: number) => `First error at step ${n}`,
    stop: {
      give_up: "Ready to hand in as given up",
      bad_problem: "Ready to hand in as a bad problem",
    } satisfies Record<Stop["kind"], string>,
    needsReason: "Say why, then submit",
    notYet: "Not ready yet.",
    undo: "Undo",
    redo: "Redo",
  },
  stop: {
    title: {
      give_up: "You are giving up on this solution. Why?",
      bad_problem: "There is something wrong with the problem. What?",
    } satisfies Record<Stop["kind"], string>,
    reasons: {
      give_up: ["Too hard for me", "Too long to check", "I cannot follow the notation"],
      bad_problem: ["Something is missing", "It has no single answer", "It cannot be read"],
    } satisfies Record<Stop["kind"], string[]>,
    own: "Or in your own words",
    back: "Go on rating instead",
  },
  skip: {
    title: "Skip this solution? It goes back to the queue for somebody else.",
    reasons: ["Not my subject", "No time for a long one", "I have seen it before"],
    own: "Or in your own words",
    confirm: "Skip it",
    back: "Stay",
  },
  panel: {
    guidelines: "Guidelines",
    keys: "Keys",
    close: "Close",
    noGuidelines:
      "This project has no guidelines of its own. Good: correct, checkable in half a minute, moves on. Neutral: not wrong, but no help. Bad: wrong, or cannot be followed.",
  },
  keys: [
    ["1", "Good"],
    ["2", "Neutral"],
    ["3", "Bad"],
    ["4", "Unsure"],
    ["e", "First error here: accepts what came before"],
    ["j k ↓ ↑", "Next, previous step"],
    ["f", "Flag for a reviewer"],
    ["c", "Comment on the step"],
    ["t", "Type of error"],
    ["r", "Show or hide the reference"],
    ["g", "Guidelines"],
    ["z", "Undo"],
    ["Shift z", "Redo"],
    ["s", "Skip, with a reason"],
    ["Enter", "Submit"],
    ["?", "This list"],
    ["Esc", "Leave a text or a panel"],
  ] as const,
  banner: {
    signedOut: "You are signed out. Your work is kept in this browser and will be sent once you sign in again.",
    signIn: "Sign in",
    unreachable: (waiting: number) =>
      waiting > 0
        ? `The server cannot be reached. ${count(waiting, "finished solution")} kept here; sent as soon as it answers.`
        : "The server cannot be reached. Your work is kept in this browser.",
    retry: "Try now",
    notDurable: "This browser cannot store your work. Keep this tab open until it is sent.",
    refused: (solution: number, why: string) => `The server did not take your work on solution ${solution}: ${why}`,
    download: "Download a copy",
    dismiss: "Dismiss",
    conflict: "This solution was also worked on in another tab or on another computer. Which work do you keep?",
    mine: "Keep what is here",
    theirs: "Take the other",
    newer: "newer",
    draft: (when: string, answered: number) => `${when}, ${count(answered, "rating")}`,
  },
  idle: {
    loading: ["Getting your next solution…", ""],
    sending: ["Sending your last solution…", "The next one comes right after."],
    unreachable: ["The server cannot be reached", "Nothing is lost. This page tries again by itself."],
    signed_out: ["You are signed out", "Nothing is lost. Sign in to go on."],
    refused: ["The server said no", ""],
    done: ["Nothing left to label", "You have seen all that is waiting for you here."],
    all_leased: ["All are taken for now", "Others are working on what is left. If one comes back, it appears here."],
    not_annotator: ["You do not label in this project", "Ask its manager to make you an annotator."],
    holding_enough: ["You hold enough already", "Finish what is open in your other tab."],
    paused: ["Paused", "The project's manager will open it again."],
    screening_failed: ["No work for you here now", "Ask the project's manager whether you may try again."],
    screening_unready: ["Not ready for you yet", "Tell the project's manager that something has to be prepared first."],
    lookAgain: "Look again",
    home: "Back to the project",
    again: (time: string) => `Looks again at ${time}`,
  },
  reading: {
    brokenFormula: "This formula cannot be typeset; this is its source.",
    showRest: (chars: number) => `Show the other ${count(chars, "character")}`,
    showLines: (lines: number) => `Show all ${count(lines, "line")}`,
  },
};
