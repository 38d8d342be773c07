import { describe, expect, it } from "vitest";
import { idOf, newerVersion } from "../../src/outbox/outbox";
import { markOf } from "../../src/state/model";
import { FakeBrowser } from "../browser";
import { FakeServer } from "../fakes";
import { SEEN } from "../sample";
import { onFakeTime, page, settled, tasks } from "./page";

onFakeTime();

describe("two versions of one label", () => {
  /** Both pages have the solution. The first submits it, then the second, which does not know that. */
  async function disagreeing() {
    const server = new FakeServer(tasks(1));
    const [a, b] = [await page(server), await page(server)];
    a.session.start();
    b.session.start();
    await settled();
    a.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    a.session.submit();
    await settled();
    for (const step of [0, 10]) b.session.dispatch({ type: "rate", step, answer: "good" });
    b.session.submit();
    await settled();
    return { server, b };
  }

  it("are both kept until the person chooses", async () => {
    const { server, b } = await disagreeing();
    expect(server.accepted.size).toBe(1);
    const [entry] = b.view.refused;
    expect(newerVersion(entry!)).toMatchObject({ mine: { finish_reason: "solution" }, theirs: { finish_reason: "found_error" } });
    const reopened = await page(server, b.browser);
    reopened.session.start();
    expect(reopened.view.refused).toHaveLength(1);
  });

  it.each(["mine", "theirs"] as const)("leave one behind: %s", async (choice) => {
    const { server, b } = await disagreeing();
    b.session.choose(idOf(b.view.refused[0]!), choice);
    await settled();
    expect(b.view.refused).toEqual([]);
    const newest = [...server.accepted.values()].at(-1)!;
    expect(newest.finish_reason).toBe(choice === "mine" ? "solution" : "found_error");
    expect(newest.based_on).toBe(choice === "mine" ? 1 : 0);
  });
});

describe("revising", () => {
  async function labelled() {
    const server = new FakeServer(tasks(2));
    const first = await page(server);
    first.session.start();
    await settled();
    first.session.dispatch({ type: "first_error", step: 10, seen: SEEN });
    first.session.dispatch({ type: "comment", value: "look at the second" });
    first.session.submit();
    await settled();
    return server;
  }

  it("opens one's own label as it was, and hands it in upon itself", async () => {
    const server = await labelled();
    const here = await page(server, new FakeBrowser(), 101);
    here.session.start();
    await settled();
    const { work } = here.view.state!;
    expect(["good", "bad"]).toEqual([markOf(work, 0).answer, markOf(work, 10).answer]);
    expect(work.comment).toBe("look at the second");
    expect(here.view.revising).toBe(true);
    here.session.dispatch({ type: "rate", step: 10, answer: "neutral" });
    here.session.submit();
    await settled();
    expect(here.view.idle.kind).toBe("revised");
    expect(here.view.task).toBeNull();
    expect([...server.accepted.values()].map((sent) => sent.based_on)).toEqual([0, 1]);
  });

  it("goes on with its draft after a crash, and asks where the label is another by then", async () => {
    const server = await labelled();
    const browser = new FakeBrowser();
    const first = await page(server, browser, 101);
    first.session.start();
    await settled();
    first.session.dispatch({ type: "rate", step: 10, answer: "unsure" });
    const again = await page(server, browser, 101);
    again.session.start();
    await settled();
    expect(markOf(again.view.state!.work, 10).answer).toBe("unsure");
    expect(again.view.conflict).toBeNull();

    const elsewhere = await page(server, new FakeBrowser(), 101);
    elsewhere.session.start();
    await settled();
    elsewhere.session.dispatch({ type: "rate", step: 10, answer: "good" });
    elsewhere.session.submit();
    await settled();
    const late = await page(server, browser, 101);
    late.session.start();
    await settled();
    expect(late.view.conflict).not.toBeNull();
    late.session.settle("theirs");
    expect(markOf(late.view.state!.work, 10).answer).toBe("good");
  });
});
