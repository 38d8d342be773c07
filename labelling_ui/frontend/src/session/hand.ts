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

/** The solution in front of the person, what they have said of it, and its draft. */
export class Hand {
  readonly keeper: DraftKeeper;
  state: State;
  /** The own revision that the work began with, 0 for none. */
  readonly basedOn: number;
  /** When the person last changed the work, ISO 8601; it also tells one draft from another. */
  private editedAt = "";
  /** What the draft says that the project does not ask any more, until the person has seen it. */
  moved: readonly Moved[] = [];
  private closed = false;
  private fetchingHints = false;
  /** Hints became due while others were fetched, which may fail for an earlier step. */
  private hintsDue = false;

  /** `label` is the person's own that is being revised. Goes on with the draft that is kept, here or on the server. */
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
   * Fetches the model's scores that are due, one at a time, so that what was seen has an order. A step that is left again
   * before its turn gets none. A failure ends it: work goes on without a hint until this is called again.
   */
  async fetchHints(): Promise<void> {
    this.hintsDue = true;
    if (this.fetchingHints) return;
    this.fetchingHints = true;
    while (this.hintsDue && !this.closed) {
      this.hintsDue = false;
      await this.fetchDueHints().catch(() => undefined); // what is wrong shows where work would be lost by it
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

  /** The person is done with it, or it is no longer theirs. */
  leave(): void {
    this.keeper.stop();
    this.closed = true;
  }

  /** Goes on with a draft, as far as it fits what the project asks by now. */
  private resume(draft: DraftBody | null): void {
    if (!draft) return;
    const fresh = startState(this.task);
    const { work, moved } = fitting(draft.work, draft.asked, fresh);
    this.state = withDraft(fresh, { ...draft, work });
    this.moved = moved;
    this.editedAt = draft.edited_at;
  }

  /** What the person has said, as it is kept. */
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

  /** Goes on with one of two drafts that differ. */
  settle(choice: "mine" | "theirs"): void {
    const draft = this.keeper.settle(choice);
    if (choice === "theirs") this.resume(draft);
    void this.fetchHints();
  }
}
