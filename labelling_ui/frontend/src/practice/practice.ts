import { callAPI, type Caller } from "../api/call";
import type { Explanation, PracticePlace, Submission, Task, Work } from "../api/types";
import type { Config } from "../config";
import { randomId } from "../outbox/outbox";
import type { Desk } from "../session/session";
import { failure, LOADING, messageOf } from "../session/sources";
import type { Idle, View } from "../session/view";
import type { Action, State } from "../state/model";
import { reduce, startState } from "../state/reducer";
import { toSubmission } from "../state/submission";

/** Practice has no leases. */
export type Unleased = Omit<Submission, "lease">;

/** The server as practice uses it. */
export type PracticeApi = ReturnType<typeof createPracticeApi>;

export function createPracticeApi(caller: Caller, projectSlug: string) {
  const practice = `/projects/${projectSlug}/practice/`;
  return {
    places: () => callAPI<PracticePlace[]>(caller, "GET", practice),
    work: (solution: number) => callAPI<Work>(caller, "GET", `${practice}${solution}/`),
    answer: (submission: Unleased) => callAPI<Explanation>(caller, "POST", practice, submission),
  };
}

interface Options extends Pick<Config, "guidelines"> {
  api: PracticeApi;
  onView: (view: View) => void;
  /** Called with each solution as soon as it arrives, so that it can be typeset before it is shown. */
  onPrefetched: (work: Work) => void;
}

interface Hand {
  task: Task;
  state: State;
  /** The submission sent for this state: sending it again is never a second answer. */
  sent: Unleased | null;
  sending: boolean;
  explanation: Explanation | null;
}

const PRACTISED: Idle = { kind: "practised", message: "", retryAt: null };
const NOTHING: Idle = { kind: "nothing_to_practise", message: "", retryAt: null };

/**
 * Shows the solutions of the practice set one after another and explains each answer. Practice makes no labels, so
 * nothing is stored here; the server has the answers.
 */
export class Practice implements Desk {
  private places: PracticePlace[] = [];
  /** Number of solutions in this round, and number done. */
  private round: number[] = [];
  private done = 0;
  private hand: Hand | null = null;
  private ahead: { solution: number; work: Promise<Work> } | null = null;
  private idle: Idle = LOADING;
  private notice = "";
  readonly resting = false;

  constructor(private readonly options: Options) {}

  start(): void {
    this.show();
    void this.begin();
  }

  /** Retries the failed request. */
  wake(): void {
    if (!this.hand && this.idle.kind !== "practised") void (this.round.length ? this.open() : this.begin());
  }

  /** Starts another round over the whole set, or over the solutions answered wrongly last time. */
  again(which: "all" | "missed"): void {
    const wanted = which === "all" ? this.places : missed(this.places);
    this.beginRound(wanted.map((place) => place.solution));
  }

  /** After an answer is submitted, only the cursor moves. */
  dispatch(...actions: Action[]): void {
    const { hand } = this;
    if (!hand) return;
    const fixed = hand.sending || hand.explanation !== null;
    const allowed = fixed ? actions.filter(({ type }) => type === "go" || type === "move") : actions;
    const before = hand.state;
    hand.state = allowed.reduce(reduce, before);
    if (hand.state === before) return;
    if (hand.state.work !== before.work) {
      hand.sent = null;
      this.notice = "";
    }
    this.show();
  }

  /** Submits an answer, or continues after its explanation; false while something is missing. */
  submit(): boolean {
    const { hand } = this;
    if (!hand) return false;
    if (hand.explanation) this.next();
    else if (!hand.sending) {
      hand.sent ??= unleased(hand);
      if (!hand.sent) return false;
      void this.send(hand, hand.sent);
    }
    return true;
  }

  private async begin(): Promise<void> {
    try {
      this.places = await this.options.api.places();
    } catch (error) {
      this.idle = failure(error);
      return this.show();
    }
    const fresh = this.places.filter((place) => place.outcome === null);
    if (fresh.length) return this.beginRound(fresh.map((place) => place.solution));
    this.idle = this.places.length ? PRACTISED : NOTHING;
    this.show();
  }

  private beginRound(solutions: number[]): void {
    this.round = solutions;
    this.done = 0;
    void this.open();
  }

  private async open(): Promise<void> {
    const solution = this.round[this.done];
    if (solution === undefined) return;
    this.idle = LOADING;
    this.show();
    try {
      const work = await (this.ahead?.solution === solution ? this.ahead.work : this.fetch(solution));
      const task = asTask(work);
      this.hand = { task, state: startState(task), sent: null, sending: false, explanation: null };
      this.fetchAhead();
    } catch (error) {
      this.ahead = null;
      this.idle = failure(error);
    }
    this.show();
  }

  private async fetch(solution: number): Promise<Work> {
    const work = await this.options.api.work(solution);
    this.options.onPrefetched(work);
    return work;
  }

  private fetchAhead(): void {
    const solution = this.round[this.done + 1];
    if (solution === undefined) return;
    const work = this.fetch(solution);
    work.catch(() => undefined); // opening it reports the failure
    this.ahead = { solution, work };
  }

  private async send(hand: Hand, answer: Unleased): Promise<void> {
    hand.sending = true;
    this.notice = "";
    this.show();
    try {
      const explanation = await this.options.api.answer(answer);
      hand.explanation = explanation;
      hand.state = atKnownError(hand, explanation);
      this.remember(hand.task.solution.id, explanation);
    } catch (error) {
      this.notice = messageOf(error);
    }
    hand.sending = false;
    this.show();
  }

  private remember(solution: number, { outcome }: Explanation): void {
    this.places = this.places.map((place) =>
      place.solution === solution ? { ...place, answered: place.answered + 1, outcome } : place,
    );
  }

  private next(): void {
    this.hand = null;
    this.done += 1;
    if (this.done < this.round.length) return void this.open();
    this.idle = PRACTISED;
    this.show();
  }

  private show(): void {
    const { hand } = this;
    const ofRound = this.places.filter((place) => this.round.slice(0, this.done + 1).includes(place.solution));
    this.options.onView({
      task: hand?.task ?? null,
      state: hand?.state ?? null,
      next: null,
      idle: this.idle,
      saved: "saved",
      durable: true,
      waiting: 0,
      trouble: "",
      revising: false,
      refused: [],
      conflict: null,
      progress: null,
      leaseEnded: null,
      heldUntil: null,
      sitting: { done: 0, goal: 0, workedMs: 0, proposal: null, restingSince: null },
      notice: this.notice,
      guidelines: this.options.guidelines,
      guidelinesChanged: false,
      moved: [],
      practice: {
        begins: this.done === 0 && !hand?.explanation,
        place: Math.min(this.done + 1, this.round.length),
        of: this.round.length,
        right: ofRound.filter((place) => place.outcome === "right").length,
        total: this.places.length,
        known: this.places.length - missed(this.places).length,
        explanation: hand?.explanation ?? null,
      },
    });
  }
}

function missed(places: PracticePlace[]): PracticePlace[] {
  return places.filter((place) => place.outcome !== "right");
}

/** Without a lease, a hint or a version to submit; tasks differ by the solution's id. */
function asTask(work: Work): Task {
  return { ...work, lease: { id: work.solution.id, expires_at: "" }, guidelines: 0, hint: null, draft: null };
}

function unleased({ task, state }: Hand): Unleased | null {
  const submission = toSubmission(task, state, randomId());
  if (!submission) return null;
  const { lease: _, ...answer } = submission;
  return answer;
}

/** The state with the cursor on the reference's first error. */
function atKnownError({ state }: Hand, { reference }: Explanation): State {
  const step = state.steps.find((entry) => entry.position === reference)?.alternatives[0];
  return step ? reduce(state, { type: "go", step: step.id }) : state;
}
