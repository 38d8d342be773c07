import type { StepPosition } from "../api/types";
import { text } from "../text";
import { firstErrorIndex, ownStepsAt, rows } from "./derived";
import { splitDimensions } from "./dimensions";
import { dimensionsInWords, markInWords, spanInWords } from "./in_words";
import { BLANK_MARK, BLANK_WORK, type Mark, markOf, offers, type Row, type State, type Work } from "./model";

/** Unsubmitted work as the browser and the server store it. */
export type DraftBody = Pick<State, "work" | "cursor" | "dwell_ms" | "total_ms" | "hints_seen"> & {
  format: 1;
  /** What the project asked for when it was stored; null if an older page stored it. */
  asked: Asked | null;
  /** When the person last changed something, ISO 8601. */
  edited_at: string;
};

export function toDraft(state: State, editedAt: string): DraftBody {
  const { work, cursor, dwell_ms, total_ms, hints_seen } = state;
  return { format: 1, work, asked: askedNow(state), cursor, dwell_ms, total_ms, hints_seen, edited_at: editedAt };
}

/** Parses a stored or received body; null if it is not a draft. */
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

/** Work of an older page, with defaults for what that page did not have. */
function completed(work: Work): Work {
  const marks = Object.entries(work.marks ?? {}).map(([step, mark]) => [step, { ...BLANK_MARK, ...mark }]);
  return { ...BLANK_WORK, ...work, marks: Object.fromEntries(marks) };
}

/** Applies a draft to a fresh state. If the cursor's step is gone, the cursor moves to the first step. */
export function withDraft(state: State, { work, cursor, dwell_ms, total_ms, hints_seen }: DraftBody): State {
  const resumed = { ...state, work, dwell_ms, total_ms, hints_seen };
  return rows(resumed).some((row) => row.step.id === cursor) ? { ...resumed, cursor } : resumed;
}

/** How many steps have an answer: enough to describe a draft in a sentence. */
export function answeredCount(work: Work): number {
  return Object.values(work.marks).filter((mark) => mark.answer !== null).length;
}

/** What a person was asked: steps by id, their own steps by position. */
export interface Asked {
  readonly steps: readonly number[];
  readonly own: readonly number[];
}

/** What the project no longer asks for, as text: for a step's comment, or, if null, for the note. */
export interface Moved {
  readonly step: number | null;
  readonly position: number | null;
  readonly words: string;
}

type Basis = Pick<State, "steps" | "scheme">;

/** What the current scheme asks for. */
export function askedNow(basis: Basis & Pick<State, "work">): Asked {
  const { marks, ownSteps } = basis.work;
  return {
    steps: rows(basis).flatMap(({ step, reached }) => (reached && marks[step.id] ? [step.id] : [])),
    own: ownStepsAt(basis).filter((position) => ownSteps[position] !== undefined),
  };
}

/**
 * Work begun under another scheme, adapted to the current one: what fits stays, the rest becomes text. `asked` is what
 * was asked for when it was stored, null if unknown. Work under the same scheme does not change, and adapting twice
 * changes nothing.
 */
export function fitting(begun: Work, asked: Asked | null, basis: Basis): { work: Work; moved: readonly Moved[] } {
  const fitted = withoutUnasked(begun, basis);
  const moves = [...ofMarks(begun, basis), ...ofPath(begun, basis), ...ofHidden(fitted, asked, basis)];
  if (moves.length === 0) return { work: begun, moved: [] };
  const moved = housed(moves, { ...basis, work: fitted });
  return { work: moved.reduce(withWords, fitted), moved };
}

/** A note about a step, or with null about the solution. */
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

/** The part of a mark that the scheme asks for, and the rest as text. */
function split(mark: Mark, scheme: State["scheme"]): { kept: Mark; words: string[] } {
  const known = (type: string) => type === "" || scheme.error_types.some(({ name }) => name === type);
  const { asked, rest } = splitDimensions(mark.dimensions, scheme);
  // If the scheme requires a rating of every step, those accepted together are unrated.
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

/** The chosen path as text, if the project no longer asks for one; and the progress, if that is no longer asked for. */
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

/** Answers that this scheme hides: they would not be submitted. */
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

/** Every note at its final place: its own step, else that of its position, else the end of the path. */
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
