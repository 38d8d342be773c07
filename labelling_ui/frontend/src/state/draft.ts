import type { StepPosition } from "../api/types";
import { text } from "../text";
import { firstErrorIndex, ownStepsAt, rows } from "./derived";
import { splitDimensions } from "./dimensions";
import { dimensionsInWords, markInWords, spanInWords } from "./in_words";
import { BLANK_MARK, BLANK_WORK, type Mark, markOf, offers, type Row, type State, type Work } from "./model";

/** Unsubmitted work as the browser and the server store it. */
export type DraftBody = Pick<State, "work" | "cursor" | "dwell_ms" | "total_ms" | "hints_seen"> & {
  format: 1;
  /** What of it was asked about when it was stored; null where an older page stored it. */
  asked: Asked | null;
  /** When the person last changed something, ISO 8601. */
  edited_at: string;
};

export function toDraft(state: State, editedAt: string): DraftBody {
  const { work, cursor, dwell_ms, total_ms, hints_seen } = state;
  return { format: 1, work, asked: askedNow(state), cursor, dwell_ms, total_ms, hints_seen, edited_at: editedAt };
}

/** Reads a body from storage or the network; null when it is none of ours. */
export function parseDraft(body: unknown): DraftBody | null {
  if (typeof body !== "object" || body === null) return null;
  const draft = body as Partial<DraftBody>;
  if (draft.format !== 1 || typeof draft.work !== "object" || draft.work === null) return null;
  const absent = { asked: null, cursor: 0, dwell_ms: {}, total_ms: 0 };
  return {
    ...absent,
    ...draft,
    format: 1,
    work: completed(draft.work),
    hints_seen: Array.isArray(draft.hints_seen) ? draft.hints_seen : [],
    edited_at: typeof draft.edited_at === "string" ? draft.edited_at : "",
  };
}

/** Work of an older page, with what that page did not know of. */
function completed(work: Work): Work {
  const marks = Object.entries(work.marks ?? {}).map(([step, mark]) => [step, { ...BLANK_MARK, ...mark }]);
  return { ...BLANK_WORK, ...work, marks: Object.fromEntries(marks) };
}

/** Puts a draft into a fresh state. Where the cursor's step is not there any more, the first step has it. */
export function withDraft(state: State, { work, cursor, dwell_ms, total_ms, hints_seen }: DraftBody): State {
  const resumed = { ...state, work, dwell_ms, total_ms, hints_seen };
  return rows(resumed).some((row) => row.step.id === cursor) ? { ...resumed, cursor } : resumed;
}

/** How many steps carry an answer: enough to tell two drafts apart in a sentence. */
export function answeredCount(work: Work): number {
  return Object.values(work.marks).filter((mark) => mark.answer !== null).length;
}

/** What a person was asked about: steps by their ids, steps of their own by position. */
export interface Asked {
  readonly steps: readonly number[];
  readonly own: readonly number[];
}

/** What the project does not ask any more, in words: in the comment of a step, or, where it is null, in the note. */
export interface Moved {
  readonly step: number | null;
  readonly position: number | null;
  readonly words: string;
}

type Basis = Pick<State, "steps" | "scheme">;

/** What of the work was asked about, as the scheme is now. */
export function askedNow(basis: Basis & Pick<State, "work">): Asked {
  const { marks, ownSteps } = basis.work;
  return {
    steps: rows(basis).flatMap(({ step, reached }) => (reached && marks[step.id] ? [step.id] : [])),
    own: ownStepsAt(basis).filter((position) => ownSteps[position] !== undefined),
  };
}

/**
 * Work that was begun under another scheme, as one can go on with it under this one: what fits stays as it is, the rest
 * stands in words where it is handed in. `asked` is what was asked about when it was kept, null where nobody knows.
 * Work that was begun under this scheme stays the same; fitted once more, so does any.
 */
export function fitting(begun: Work, asked: Asked | null, basis: Basis): { work: Work; moved: readonly Moved[] } {
  const fitted = withoutUnasked(begun, basis);
  const moves = [...ofMarks(begun, basis), ...ofPath(begun, basis), ...ofHidden(fitted, asked, basis)];
  if (moves.length === 0) return { work: begun, moved: [] };
  const moved = housed(moves, { ...basis, work: fitted });
  return { work: moved.reduce(withWords, fitted), moved };
}

/** Words about a step; with null, about the solution. */
interface Move {
  about: number | null;
  words: string[];
}

function withoutUnasked(work: Work, { scheme }: Basis): Work {
  const marks = Object.entries(work.marks).map(([step, mark]) => [step, split(mark, scheme).kept]);
  const path = scheme.choose_path ? {} : { chosen: {}, endsAt: null };
  const progress = scheme.ask_progress ? work.progress : null;
  return { ...work, marks: Object.fromEntries(marks), ...path, progress };
}

/** What of a mark the scheme asks for, and the words for the rest. */
function split(mark: Mark, scheme: State["scheme"]): { kept: Mark; words: string[] } {
  const known = (type: string) => type === "" || scheme.error_types.some(({ name }) => name === type);
  const { asked, rest } = splitDimensions(mark.dimensions, scheme);
  // Where every step is asked for by hand, what was accepted with others was not said.
  const stands = mark.answer !== null && offers(scheme, mark.answer) && (scheme.offer_accepting || !mark.accepted);
  const kept: Mark = {
    ...mark,
    answer: stands ? mark.answer : null,
    accepted: stands && mark.accepted,
    error_type: known(mark.error_type) ? mark.error_type : "",
    spans: mark.spans.map((span) => (known(span.error_type) ? span : { ...span, error_type: "" })),
    dimensions: asked,
  };
  const gone: Mark = {
    ...BLANK_MARK,
    answer: kept.answer ? null : mark.answer,
    error_type: kept.error_type ? "" : mark.error_type,
  };
  const types = mark.spans.filter(({ error_type }) => !known(error_type)).map((span) => spanInWords({ ...span, comment: "" }));
  return { kept, words: [...markInWords(gone, scheme), ...types, ...dimensionsInWords(rest)] };
}

function ofMarks(work: Work, { steps, scheme }: Basis): Move[] {
  return stepsOf(steps).map(({ id }) => ({ about: id, words: split(markOf(work, id), scheme).words })).filter(said);
}

/** Where the path is not chosen any more, how it was; and how far it got, where that is not asked. */
function ofPath(work: Work, { steps, scheme }: Basis): Move[] {
  const moves: Move[] = [];
  if (!scheme.choose_path) {
    for (const { position, alternatives } of steps) {
      const way = alternatives.findIndex(({ id }) => id === work.chosen[position]);
      if (way > 0) moves.push({ about: alternatives[0]!.id, words: [text.fitting.way(position + 1, way + 1)] });
    }
    const last = steps.at(-1)?.position ?? 0;
    if (work.endsAt !== null && work.endsAt < last) moves.push({ about: null, words: [text.fitting.ended(work.endsAt + 1)] });
  }
  if (!scheme.ask_progress && work.progress !== null) {
    const error = steps[firstErrorIndex({ steps, scheme, work })]?.alternatives[0]?.id ?? null;
    moves.push({ about: error, words: [text.fitting.progress(text.atError.far[work.progress]!)] });
  }
  return moves;
}

/** What was asked about, and is out of sight under this scheme: nothing of it would be handed in. */
function ofHidden(work: Work, asked: Asked | null, { steps, scheme }: Basis): Move[] {
  if (!asked) return [];
  const now = { steps, scheme, work };
  const shown = new Set(rows(now).flatMap(({ step, reached }) => (reached ? [step.id] : [])));
  const own = new Set(ownStepsAt(now));
  const marks = stepsOf(steps)
    .filter(({ id }) => asked.steps.includes(id) && !shown.has(id))
    .map(({ id }) => ({ about: id, words: markInWords(markOf(work, id), scheme) }));
  const ownSteps = steps
    .filter(({ position }) => asked.own.includes(position) && !own.has(position) && work.ownSteps[position]?.trim())
    .map(({ position, alternatives }) => ({
      about: alternatives[0]!.id,
      words: [`${text.versions.ownStep(position + 1)}: “${work.ownSteps[position]!.trim()}”`],
    }));
  return [...marks, ...ownSteps].filter(said);
}

/** All where it will be handed in: at its own step, else at that of its position, else where the path ends. */
function housed(moves: Move[], now: Basis & Pick<State, "work">): Moved[] {
  const shown = rows(now).filter((row) => row.reached);
  const homes = new Map<Row | null, string[]>();
  for (const { about, words } of moves) {
    const at = about === null ? null : placeOf(now.steps, about);
    const own = shown.find((row) => row.step.id === about);
    const main = shown.filter((row) => row.main);
    const home = at && (own ?? main.find((row) => row.position === at.position) ?? main.at(-1) ?? null);
    const said = words.join(", ");
    homes.set(home, [...(homes.get(home) ?? []), at && !own ? `${labelOf(at)}: ${said}` : said]);
  }
  return [...homes].map(([home, words]) => ({
    step: home?.step.id ?? null,
    position: home?.position ?? null,
    words: words.join("; "),
  }));
}

function withWords(work: Work, { step, words }: Moved): Work {
  const add = (comment: string) => [comment.trimEnd(), `[${words}]`].filter(Boolean).join(" ");
  if (step === null) return { ...work, comment: add(work.comment) };
  const mark = markOf(work, step);
  return { ...work, marks: { ...work.marks, [step]: { ...mark, comment: add(mark.comment) } } };
}

function stepsOf(steps: readonly StepPosition[]) {
  return steps.flatMap(({ alternatives }) => alternatives);
}

interface Place {
  position: number;
  alternative: number;
}

function placeOf(steps: readonly StepPosition[], id: number): Place {
  const at = steps.find(({ alternatives }) => alternatives.some((step) => step.id === id))!;
  return { position: at.position, alternative: at.alternatives.findIndex((step) => step.id === id) };
}

function labelOf({ position, alternative }: Place): string {
  return alternative === 0 ? text.step(position + 1) : `${text.otherCompletion(position + 1)} (${alternative})`;
}

function said({ words }: Move): boolean {
  return words.length > 0;
}
