import type { Api } from "../api/endpoints";
import type { OwnLabel, Task } from "../api/types";
import { type DraftBody, fitting, type Moved, toDraft, withDraft } from "../state/draft";
import { missingScores } from "../state/hints";
import type { Action, State } from "../state/model";
import { reduce, startState } from "../state/reducer";
import { asDraft } from "../state/submission";
import type { Storage } from "../storage/storage";
import { DraftKeeper } from "./draft_keeper";

interface HandOptions {
  storage: Storage;
  api: Api;
  scope: string;
  page: string;
  onChange: () => void;
}

/** The solution in front of the person, their work on it, and its draft. */
export class Hand {
  readonly keeper: DraftKeeper;
  state: State;
  /** The person's own revision that the work is based on, 0 for none. */
  readonly basedOn: number;
  /** When the person last changed the work, ISO 8601; it also identifies a draft. */
  private editedAt = "";
  /** Parts of the draft that the project no longer asks for, until the person has seen them. */
  moved: readonly Moved[] = [];
  private closed = false;
  private fetchingHints = false;
  /** Hints became due while others were being fetched. */
  private hintsDue = false;

  /** `label` is the person's own that is being revised. Continues the stored draft, from here or from the server. */
  constructor(
    readonly task: Task,
    label: OwnLabel | null,
    private readonly options: HandOptions,
  ) {
    this.keeper = new DraftKeeper(task.lease.id, {
      ...options,
      prefix: `stepmark:draft:${options.scope}:`,
      revised: label && { revision: label.revision, said: asDraft(task, label) },
    });
    this.state = startState(task);
    this.resume(this.keeper.open(task));
    this.basedOn = label?.revision ?? 0;
    void this.fetchHints();
  }

  /**
   * Fetches the model's scores that are due, one at a time, so that their order is recorded. A step that is left before
   * its turn gets none. A failure stops it: work continues without hints until the next call.
   */
  async fetchHints(): Promise<void> {
    this.hintsDue = true;
    if (this.fetchingHints) return;
    this.fetchingHints = true;
    while (this.hintsDue && !this.closed) {
      this.hintsDue = false;
      await this.fetchDueHints().catch(() => undefined); // errors show elsewhere, where work could be lost
    }
    this.fetchingHints = false;
  }

  private async fetchDueHints(): Promise<void> {
    for (let position = missingScores(this.state)[0]; position !== undefined; position = missingScores(this.state)[0]) {
      const { score } = await this.options.api.hintScore(this.task.lease.id, position);
      if (this.closed) return;
      this.act([{ type: "score", position, score }]);
      this.options.onChange();
    }
  }

  /** The work is finished, or its lease is lost. */
  leave(): void {
    this.keeper.stop();
    this.closed = true;
  }

  /** Continues a draft, as far as it fits what the project asks for now. */
  private resume(draft: DraftBody | null): void {
    if (!draft) return;
    const fresh = startState(this.task);
    const { work, moved } = fitting(draft.work, draft.asked, fresh);
    this.state = withDraft(fresh, { ...draft, work });
    this.moved = moved;
    this.editedAt = draft.edited_at;
  }

  /** The work as it is stored. */
  get draft(): DraftBody {
    return toDraft(this.state, this.editedAt);
  }

  /** Applies actions as one; returns whether anything changed. */
  act(actions: Action[]): boolean {
    const before = this.state;
    this.state = actions.reduce(reduce, before);
    const asked = actions.some(({ type }) => type === "hint");
    if (asked || this.state.cursor !== before.cursor || missingScores(this.state).length > missingScores(before).length) {
      void this.fetchHints();
    }
    if (this.state === before) return false;
    if (this.state.work === before.work) this.keeper.keepTime(this.draft);
    else {
      this.editedAt = new Date().toISOString();
      this.keeper.keep(this.draft);
    }
    return true;
  }

  /** Continues with one of two conflicting drafts. */
  settle(choice: "mine" | "theirs"): void {
    const draft = this.keeper.settle(choice);
    if (choice === "theirs") this.resume(draft);
    void this.fetchHints();
  }
}
