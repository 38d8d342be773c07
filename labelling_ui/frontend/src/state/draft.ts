import { BLANK_MARK, BLANK_WORK, type State, type Work } from "./model";
import { rows } from "./derived";
import { askedNow, type Asked } from "./fitting";

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
  const absent = { asked: null, cursor: 0, dwell_ms: {}, total_ms: 0, hints_seen: [], edited_at: "" };
  return { ...absent, ...draft, format: 1, work: completed(draft.work) };
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
