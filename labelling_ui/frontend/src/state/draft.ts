import type { Seen, State, Work } from "./model";
import { BLANK_MARK, BLANK_WORK } from "./model";
import { rows } from "./derived";
import { askedNow, type Asked } from "./fitting";

/** Unsubmitted work as it is kept in the browser and on the server. */
export type DraftBody = {
  format: 1;
  work: Work;
  /** What of it was asked about when it was kept; null where an older page kept it. */
  asked: Asked | null;
  cursor: number;
  dwell_ms: Record<number, number>;
  total_ms: number;
  hints_seen: readonly Seen[];
  /** When the person last changed something, ISO 8601. */
  edited_at: string;
};

export function toDraft(state: State, editedAt: string): DraftBody {
  return {
    format: 1,
    work: state.work,
    asked: askedNow(state),
    cursor: state.cursor,
    dwell_ms: { ...state.dwellMs },
    total_ms: state.totalMs,
    hints_seen: state.seen,
    edited_at: editedAt,
  };
}

/** Reads a body from storage or the network; null when it is none of ours. */
export function parseDraft(body: unknown): DraftBody | null {
  if (typeof body !== "object" || body === null) return null;
  const draft = body as Partial<DraftBody>;
  if (draft.format !== 1 || typeof draft.work !== "object" || draft.work === null) return null;
  return {
    format: 1,
    work: completed(draft.work),
    asked: draft.asked ?? null,
    cursor: Number(draft.cursor ?? 0),
    dwell_ms: draft.dwell_ms ?? {},
    total_ms: Number(draft.total_ms ?? 0),
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
export function withDraft(state: State, draft: DraftBody): State {
  const { work, dwell_ms: dwellMs, total_ms: totalMs, hints_seen: seen } = draft;
  const resumed = { ...state, work, dwellMs, totalMs, seen };
  const known = rows(resumed).some((row) => row.step.id === draft.cursor);
  return { ...resumed, cursor: known ? draft.cursor : state.cursor };
}

/** How many steps carry an answer: enough to tell two drafts apart in a sentence. */
export function answeredCount(work: Work): number {
  return Object.values(work.marks).filter((mark) => mark.answer !== null).length;
}
