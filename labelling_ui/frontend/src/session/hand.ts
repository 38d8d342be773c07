import type { Api } from "../api/endpoints";
import type { OwnLabel, Task } from "../api/types";
import type { Storage } from "../storage/storage";
import { toDraft, withDraft, type DraftBody } from "../state/draft";
import type { Action, State } from "../state/model";
import { fitting, type Moved } from "../state/fitting";
import { missingScores } from "../state/hints";
import { reduce, startState } from "../state/reducer";
import { asDraft } from "../state/revision";
import { DraftKeeper } from "./draft_keeper";
import { HintScores } from "./hint_scores";

export interface HandOptions {
  storage: Storage;
  api: Api;
  scope: string;
  page: string;
  onChange: () => void;
}

/** The solution in front of the person, what they have said of it, and its draft. */
export class Hand {
  readonly keeper: DraftKeeper;
  private readonly hints: HintScores;
  state: State;
  /** The own revision that the work began with, 0 for none. */
  readonly basedOn: number;
  /** When the person last changed the work, ISO 8601; it also tells one draft from another. */
  private editedAt = "";
  /** What the draft says that the project does not ask any more, until the person has seen it. */
  moved: readonly Moved[] = [];

  /** `label` is the person's own that is being revised. Goes on with the draft that is kept, here or on the server. */
  constructor(
    readonly task: Task,
    label: OwnLabel | null,
    { scope, ...options }: HandOptions,
  ) {
    this.keeper = new DraftKeeper(task.lease.id, {
      ...options,
      prefix: `stepmark:draft:${scope}:`,
      revised: label && { revision: label.revision, said: asDraft(task, label) },
    });
    this.state = startState(task);
    this.resume(this.keeper.open(task));
    this.basedOn = label?.revision ?? 0;
    this.hints = new HintScores(task.lease.id, {
      api: options.api,
      missing: () => missingScores(this.state),
      onScore: (position, score) => {
        this.act([{ type: "score", position, score }]);
        options.onChange();
      },
    });
    this.fetchHints();
  }

  /** Fetches the model's scores that are due. */
  fetchHints(): void {
    void this.hints.fetch();
  }

  /** The person is done with it, or it is no longer theirs. */
  leave(): void {
    this.keeper.stop();
    this.hints.close();
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

  /** Applies actions as one; says what changed. */
  act(actions: Action[]): "nothing" | "time" | "work" {
    const before = this.state;
    this.state = actions.reduce(reduce, before);
    const asked = actions.some(({ type }) => type === "hint");
    if (asked || this.state.cursor !== before.cursor || missingScores(this.state).length > missingScores(before).length) {
      this.fetchHints();
    }
    if (this.state === before) return "nothing";
    if (this.state.work === before.work) {
      this.keeper.keepTime(this.draft);
      return "time";
    }
    this.editedAt = new Date().toISOString();
    this.keeper.keep(this.draft);
    return "work";
  }

  /** Goes on with one of two drafts that differ. */
  settle(choice: "mine" | "theirs"): void {
    const draft = this.keeper.settle(choice);
    if (choice === "theirs") this.resume(draft);
    this.fetchHints();
  }
}
