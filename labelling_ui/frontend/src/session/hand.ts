import type { Api } from "../api/endpoints";
import type { OwnLabel, Task } from "../api/types";
import type { Storage } from "../storage/storage";
import { toDraft, withDraft } from "../state/draft";
import type { Action, State } from "../state/model";
import { reduce, startState } from "../state/reducer";
import { asDraft } from "../state/revision";
import { DraftKeeper } from "./draft_keeper";

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
  state: State;
  /** The own revision that the work began with, 0 for none. */
  readonly basedOn: number;
  /** When the person last changed the work, ISO 8601; it also tells one draft from another. */
  private editedAt: string;

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
    const draft = this.keeper.open(task);
    const fresh = startState(task);
    this.state = draft ? withDraft(fresh, draft) : fresh;
    this.editedAt = draft?.edited_at ?? "";
    this.basedOn = label?.revision ?? 0;
  }

  /** Applies actions as one; says what changed. */
  act(actions: Action[]): "nothing" | "time" | "work" {
    const before = this.state;
    this.state = actions.reduce(reduce, before);
    if (this.state === before) return "nothing";
    if (this.state.work === before.work) {
      this.keeper.keepTime(toDraft(this.state, this.editedAt));
      return "time";
    }
    this.editedAt = new Date().toISOString();
    this.keeper.keep(toDraft(this.state, this.editedAt));
    return "work";
  }

  /** Goes on with one of two drafts that differ. */
  settle(choice: "mine" | "theirs"): void {
    const draft = this.keeper.settle(choice);
    if (!draft || choice === "mine") return;
    this.state = withDraft(startState(this.task), draft);
    this.editedAt = draft.edited_at;
  }
}
