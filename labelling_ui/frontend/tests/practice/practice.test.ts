import { describe, expect, it } from "vitest";
import type { Explanation, PracticeOutcome, PracticePlace, Work } from "../../src/api/types";
import { NetworkError } from "../../src/api/call";
import { Practice, type PracticeApi, type Unleased } from "../../src/practice/practice";
import type { View } from "../../src/session/view";
import { sampleTask, SEEN } from "../sample";

/** The practice server: a set of solutions whose first error is at step 2. */
class Server implements PracticeApi {
  readonly answers: Unleased[] = [];
  fetched: number[] = [];
  fails = false;

  constructor(private set: PracticePlace[]) {}

  async places() {
    return this.set;
  }

  async work(solution: number): Promise<Work> {
    this.fetched.push(solution);
    const { lease: _, draft: __, ...work } = sampleTask({ lease: solution - 100 });
    return work;
  }

  async answer(submission: Unleased): Promise<Explanation> {
    if (this.fails) throw new NetworkError("The server cannot be reached.");
    this.answers.push(submission);
    const said = submission.path.findIndex((place) => place.chosen === null);
    const outcome: PracticeOutcome = said === 1 ? "right" : said < 0 ? "missed" : "too_early";
    return { outcome, answer: said, reference: 1, accepted: [], explanation: "", comment: "", steps: [] };
  }
}

const place = (solution: number, outcome: PracticePlace["outcome"] = null) => ({
  solution,
  answered: outcome ? 1 : 0,
  outcome,
});

async function begun(...set: PracticePlace[]) {
  const server = new Server(set);
  const views: View[] = [];
  const practice = new Practice({
    guidelines: { version: 0, text: "", examples: [] },
    api: server,
    onView: (view) => views.push(view),
    onPrefetched: () => undefined,
  });
  practice.start();
  await settled();
  const view = () => views.at(-1)!;
  const answer = async (step: number) => {
    practice.dispatch({ type: "first_error", step, seen: SEEN });
    expect(practice.submit()).toBe(true);
    await settled();
  };
  return { server, practice, view, answer };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

describe("practice", () => {
  it("explains an answer before it goes on, with the eye on the first error", async () => {
    const { practice, view, answer } = await begun(place(101), place(102));
    expect(view().practice).toMatchObject({ place: 1, of: 2, right: 0, explanation: null });
    await answer(0);
    expect(view().practice!.explanation!.outcome).toBe("too_early");
    expect(view().state!.cursor).toBe(10);
    expect(view().task!.solution.id).toBe(101);
    practice.submit();
    await settled();
    expect(view().task!.solution.id).toBe(102);
    expect(view().practice).toMatchObject({ place: 2, right: 0, explanation: null });
  });

  it("has the next solution in hand while one is read", async () => {
    const { server, practice, answer } = await begun(place(101), place(102), place(103));
    expect(server.fetched).toEqual([101, 102]);
    await answer(10);
    practice.submit();
    await settled();
    expect(server.fetched).toEqual([101, 102, 103]);
  });

  it("keeps an answer as it was handed in", async () => {
    const { practice, view, answer } = await begun(place(101));
    await answer(10);
    const { work } = view().state!;
    practice.dispatch({ type: "rate", step: 0, answer: "bad" }, { type: "undo" }, { type: "move", by: -1 });
    expect(view().state!.work).toBe(work);
    expect(view().state!.cursor).toBe(0);
  });

  it("says what is missing before it sends anything", async () => {
    const { server, practice } = await begun(place(101));
    expect(practice.submit()).toBe(false);
    expect(server.answers).toEqual([]);
  });

  it("sends the same answer again where the server could not be reached, and another one once it is changed", async () => {
    const { server, practice, view, answer } = await begun(place(101));
    server.fails = true;
    await answer(10);
    expect(view().notice).toBe("The server cannot be reached.");
    expect(view().practice!.explanation).toBeNull();
    server.fails = false;
    practice.submit();
    await settled();
    expect(server.answers).toHaveLength(1);
    expect(server.answers[0]).not.toHaveProperty("lease");
    expect(view().practice!.explanation!.outcome).toBe("right");
  });

  it("goes on with what was never answered, and offers what was wrong once more", async () => {
    const { practice, view, answer } = await begun(place(101, "right"), place(102), place(103, "missed"));
    expect(view().practice).toMatchObject({ place: 1, of: 1 });
    await answer(0);
    practice.submit();
    expect(view().idle.kind).toBe("practised");
    expect(view().practice).toMatchObject({ total: 3, known: 1 });
    practice.again("missed");
    await settled();
    expect(view().practice).toMatchObject({ place: 1, of: 2, right: 0 });
    await answer(10);
    expect(view().practice!.right).toBe(1);
  });

  it("tells an empty set from one that is done", async () => {
    expect((await begun()).view().idle.kind).toBe("nothing_to_practise");
    expect((await begun(place(101, "right"))).view().idle.kind).toBe("practised");
  });
});
