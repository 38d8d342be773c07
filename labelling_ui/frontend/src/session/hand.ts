import type { Api } from "../api/endpoints";
import type { OwnLabel, Task } from "../api/types";
import { type DraftBody, toDraft, withDraft } from "../state/draft";
import { fitting, type Moved } from "../state/fitting";
import { missingScores } from "../state/hints";
import type { Action, State } from "../state/model";
import { reduce, startState } from "../state/reducer";
import { asDraft } from "../state/submission";
import type { Storage } from "../storage/storage";
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

interface Options {
  api: Pick<Api, "hintScore">;
  /** The positions whose score is due, the most urgent first. */
  missing: () => number[];
  onScore: (position: number, score: number) => void;
}

/**
 * Fetches the scores of one solution from the server, each once it is due and one at a time, so that what was seen has
 * an order. A step that is left again before its turn gets no score: it would be of no use any more.
 */
class HintScores {
  private running = false;
  /** Asked for again while a fetch was under way, which may fail for a step of before. */
  private again = false;
  private closed = false;

  constructor(
    private readonly lease: number,
    private readonly options: Options,
  ) {}

  /** Fetches what is due, and ends at a failure: work goes on without a hint until this is called again. */
  async fetch(): Promise<void> {
    this.again = true;
    if (this.running) return;
    this.running = true;
    while (this.again) {
      this.again = false;
      await this.fetchAll();
    }
    this.running = false;
  }

  private async fetchAll(): Promise<void> {
    try {
      for (let next = this.next(); next !== undefined; next = this.next()) {
        const { score } = await this.options.api.hintScore(this.lease, next);
        if (!this.closed) this.options.onScore(next, score);
      }
    } catch {
      // Whatever is wrong shows where work would be lost by it.
    }
  }

  close(): void {
    this.closed = true;
  }

  private next(): number | undefined {
    return this.closed ? undefined : this.options.missing()[0];
  }
}
