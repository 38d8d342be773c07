import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NetworkError } from "../../src/api/call";
import { newerVersion } from "../../src/outbox/outbox";
import { markOf } from "../../src/state/model";
import type { DraftBody } from "../../src/state/draft";
import { Session } from "../../src/session/session";
import type { View } from "../../src/session/view";
import { FakeBrowser } from "../browser";
import { FakeServer } from "../fakes";
import { sampleTask } from "../sample";

function tasks(count: number) {
  return Array.from({ length: count }, (_, index) => sampleTask({ lease: index + 1, alternatives: [1, 1] }));
}

/** A page of a browser on its way to the first solution; `close` is a closed tab, whose calls never arrive. */
async function page(server: FakeServer, browser = new FakeBrowser(), revise: number | null = null, depth = 1) {
  const seen: { view: View | null } = { view: null };
  let open = true;
  const whileOpen = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const value = target[name as keyof T];
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => (open ? value.apply(target, given) : new Promise(() => {}));
      },
    });
  const { storage, close } = browser.unreadPage(() => session.look());
  const session: Session = new Session({
    api: whileOpen(server),
    storage,
    scope: "me:pilot",
    revise,
    prefetchDepth: depth,
    leaseMinutes: 30,
    pace: { breakAfterMinutes: 50, goal: 0 },
    onView: (view) => {
      seen.view = view;
    },
    onPrefetched: () => {},
  });
  await storage.flush();
  return {
    session,
    browser,
    close: () => {
      open = false;
      close();
    },
    get view(): View {
      if (!seen.view) throw new Error("nothing shown yet");
      return seen.view;
    },
  };
}

const settled = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers({ now: new Date("2026-01-01T09:00:00Z") });
  vi.spyOn(Math, "random").mockReturnValue(1);
});
afterEach(() => void vi.useRealTimers());

describe("flow", () => {
  it("has the next in hand before it is needed", async () => {
    const server = new FakeServer(tasks(3));
    const here = await page(server);
    here.session.start();
    await settled();
    expect(here.view.task?.lease.id).toBe(1);
    expect(here.view.nextInHand).toBe(true);
    here.session.dispatch({ type: "first_error", step: 0 });
    here.session.submit();
    expect(here.view.nextInHand).toBe(false);
    // Not one turn of the event loop later: the network had no part in it.
    expect(here.view.task?.lease.id).toBe(2);
    await settled();
    expect(here.view.progress?.today).toBe(1);
    here.session.dispatch({ type: "first_error", step: 0 });
    here.session.submit();
    expect(here.view.task?.lease.id).toBe(3);
  });

  it("fetches as many ahead as the project says, and none more", async () => {
    const server = new FakeServer(tasks(9), 3);
    const here = await page(server, new FakeBrowser(), null, 3);
    here.session.start();
    await settled();
    expect(server.calls.filter((call) => call === "claim")).toHaveLength(4);
    server.online = false;
    for (const lease of [1, 2, 3, 4]) {
      expect(here.view.task?.lease.id).toBe(lease);
      here.session.dispatch({ type: "first_error", step: 0 });
      here.session.submit();
    }
    expect(here.view.task).toBeNull();
    await settled();
    server.online = true;
    here.session.wake();
    await settled();
    expect(server.accepted.size).toBe(4);
    expect(here.view.task?.lease.id).toBe(5);
  });

  it("lets go of a solution fetched ahead that is another's by now, and fetches one for it", async () => {
    const server = new FakeServer(tasks(4), 2);
    const here = await page(server, new FakeBrowser(), null, 2);
    here.session.start();
    await settled();
    server.endedLeases.add(2);
    await server.release(2, "");
    await here.session.heartbeat();
    await settled();
    for (const lease of [1, 3, 4]) {
      expect(here.view.task?.lease.id).toBe(lease);
      here.session.dispatch({ type: "first_error", step: 0 });
      here.session.submit();
    }
  });

  it("keeps a solution for its time from the last sign of life", async () => {
    const here = await page(new FakeServer(tasks(1)));
    here.session.start();
    await settled();
    const began = Date.now();
    expect(here.view.heldUntil).toBe(began + 30 * 60_000);
    await vi.advanceTimersByTimeAsync(60_000);
    await here.session.heartbeat();
    expect(here.view.heldUntil).toBe(began + 31 * 60_000);
  });

  it("counts a sitting's work, time and breaks", async () => {
    const here = await page(new FakeServer(tasks(2)));
    here.session.start();
    await settled();
    here.session.dispatch({ type: "spend", ms: 40_000 }, { type: "first_error", step: 0 });
    here.session.aim(1);
    here.session.submit();
    expect(here.view.sitting).toMatchObject({ done: 1, goal: 1, workedMs: 40_000, proposal: "goal" });
    here.session.rest();
    expect(here.session.resting).toBe(true);
    expect(here.view.sitting.restingSince).toBe(Date.now());
    here.session.goOn();
    expect(here.view.sitting).toMatchObject({ proposal: null, restingSince: null });
  });

  it("does not submit unfinished work", async () => {
    const here = await page(new FakeServer(tasks(1)));
    here.session.start();
    await settled();
    expect(here.session.submit()).toBe(false);
    expect(here.view.task?.lease.id).toBe(1);
  });

  it("tells why nothing is left, and finds what comes later", async () => {
    const queue = tasks(0);
    const here = await page(new FakeServer(queue));
    here.session.start();
    await settled();
    expect(here.view.idle).toMatchObject({ kind: "done", message: "All done." });
    queue.push(...tasks(1));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(here.view.task?.lease.id).toBe(1);
  });

  it("goes on without network, and sends each piece of work once it is back", async () => {
    const server = new FakeServer(tasks(3));
    const here = await page(server);
    here.session.start();
    await settled();
    server.online = false;
    for (const lease of [1, 2]) {
      expect(here.view.task?.lease.id).toBe(lease);
      here.session.dispatch({ type: "first_error", step: 0 });
      here.session.submit();
      await settled();
    }
    expect(here.view.saved).toBe("unreachable");
    expect(here.view.waiting).toBe(2);
    server.online = true;
    here.session.wake();
    await settled();
    expect([...server.accepted.values()].map((sent) => sent.lease)).toEqual([1, 2]);
    expect(here.view.task?.lease.id).toBe(3);
    expect(here.view.saved).toBe("saved");
  });

  it("never shows again what is on its way to the server", async () => {
    const server = new FakeServer(tasks(1), 0);
    const here = await page(server);
    here.session.start();
    await settled();
    vi.spyOn(server, "submit").mockImplementation(() => new Promise(() => {}));
    here.session.dispatch({ type: "first_error", step: 0 });
    here.session.submit();
    await settled();
    expect(here.view.task).toBeNull();
    expect(here.view.idle.kind).toBe("sending");
  });

  it("skips with a reason, and keeps the work when the server does not answer", async () => {
    const server = new FakeServer(tasks(2));
    const here = await page(server);
    here.session.start();
    await settled();
    server.online = false;
    await here.session.skip("Not my field.");
    expect(here.view.task?.lease.id).toBe(1);
    expect(here.view.notice).not.toBe("");
    server.online = true;
    await here.session.skip("Not my field.");
    expect(server.released).toEqual([{ lease: 1, reason: "Not my field." }]);
    expect(here.view.task?.lease.id).toBe(2);
  });

  it("says so when the lease ended, and still takes the submission", async () => {
    const server = new FakeServer(tasks(1));
    const here = await page(server);
    here.session.start();
    await settled();
    server.endedLeases.add(1);
    await here.session.heartbeat();
    expect(here.view.leaseEnded).toBe("It ended.");
    here.session.dispatch({ type: "first_error", step: 0 });
    here.session.submit();
    await settled();
    expect(server.accepted.size).toBe(1);
  });

  it("asks to sign in again without losing a thing", async () => {
    const server = new FakeServer(tasks(2));
    const here = await page(server);
    here.session.start();
    await settled();
    server.signedIn = false;
    here.session.dispatch({ type: "rate", step: 0, answer: "good" });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(here.view.saved).toBe("signed_out");
    server.signedIn = true;
    here.session.wake();
    await settled();
    expect(here.view.saved).toBe("saved");
    expect(server.drafts.get(1)?.version).toBe(1);
  });
});

describe("finished work that another tab could send", () => {
  it("is sent by it, and counts here too", async () => {
    const server = new FakeServer(tasks(3));
    const here = await page(server);
    here.session.start();
    await settled();
    server.signedIn = false;
    here.session.dispatch({ type: "first_error", step: 0 });
    here.session.submit();
    await settled();
    expect(here.view.waiting).toBe(1);
    server.signedIn = true;
    const beside = await page(server, here.browser);
    beside.session.start();
    await settled();
    beside.close();
    expect(here.view.waiting).toBe(0);
    expect(here.view.progress?.today).toBe(1);
    expect(server.accepted.size).toBe(1);
  });
});

describe("drafts", () => {
  it("survive a closed tab before the server had them", async () => {
    const server = new FakeServer(tasks(1));
    const first = await page(server);
    first.session.start();
    await settled();
    first.session.dispatch({ type: "rate", step: 0, answer: "neutral" });
    const second = await page(server, first.browser);
    second.session.start();
    await settled();
    expect(markOf(second.view.state!.work, 0).answer).toBe("neutral");
    expect(second.view.state!.cursor).toBe(10);
  });

  it("come from the server on another computer", async () => {
    const server = new FakeServer(tasks(1));
    const first = await page(server);
    first.session.start();
    await settled();
    first.session.dispatch({ type: "rate", step: 0, answer: "unsure" });
    await vi.advanceTimersByTimeAsync(2_000);
    const second = await page(server);
    second.session.start();
    await settled();
    expect(markOf(second.view.state!.work, 0).answer).toBe("unsure");
  });

  it.each(["mine", "theirs"] as const)("that differ are both kept until the person takes %s", async (choice) => {
    const server = new FakeServer(tasks(1));
    const [a, b] = [await page(server), await page(server)];
    a.session.start();
    b.session.start();
    await settled();
    a.session.dispatch({ type: "rate", step: 0, answer: "good" });
    await vi.advanceTimersByTimeAsync(2_000);
    b.session.dispatch({ type: "rate", step: 0, answer: "bad" });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(b.view.conflict).not.toBeNull();
    b.session.settle(choice);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(b.view.conflict).toBeNull();
    expect(markOf(b.view.state!.work, 0).answer).toBe(choice === "mine" ? "bad" : "good");
    const stored = server.drafts.get(1)!;
    expect(stored.version).toBe(choice === "mine" ? 2 : 1);
  });

  describe("of two tabs of one browser", () => {
    /** Both tabs wrote, the second a minute later, and the server heard of neither. */
    async function twoTabs() {
      const server = new FakeServer(tasks(1));
      const browser = new FakeBrowser();
      const [a, b] = [await page(server, browser), await page(server, browser)];
      a.session.start();
      b.session.start();
      await settled();
      server.online = false;
      a.session.dispatch({ type: "rate", step: 0, answer: "good" }, { type: "comment", value: "typed in the first" });
      await vi.advanceTimersByTimeAsync(60_000);
      b.session.dispatch({ type: "rate", step: 0, answer: "bad" }, { type: "comment", value: "typed in the second" });
      a.close();
      b.close();
      server.online = true;
      return { server, browser };
    }

    async function reopen({ server, browser }: Awaited<ReturnType<typeof twoTabs>>) {
      const here = await page(server, browser);
      here.session.start();
      await settled();
      return here;
    }

    it("are both offered, the newer on the screen, until the person chooses", async () => {
      const closed = await twoTabs();
      for (const here of [await reopen(closed), await reopen(closed)]) {
        expect(here.view.state!.work.comment).toBe("typed in the second");
        expect(here.view.conflict?.theirs.work.comment).toBe("typed in the first");
        here.close();
      }
    });

    it.each([
      ["mine", "typed in the second"],
      ["theirs", "typed in the first"],
    ] as const)("leave one behind, on the server too: %s", async (choice, comment) => {
      const closed = await twoTabs();
      const here = await reopen(closed);
      here.session.settle(choice);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(here.view.conflict).toBeNull();
      expect(here.view.state!.work.comment).toBe(comment);
      expect((closed.server.drafts.get(1)!.body as DraftBody).work.comment).toBe(comment);
      here.close();
      const later = await reopen(closed);
      expect(later.view.conflict).toBeNull();
      expect(later.view.state!.work.comment).toBe(comment);
    });

    it("are no question where they say the same", async () => {
      const server = new FakeServer(tasks(1));
      const browser = new FakeBrowser();
      const tabs = [await page(server, browser), await page(server, browser)];
      for (const { session } of tabs) session.start();
      await settled();
      for (const { session, close } of tabs) {
        session.dispatch({ type: "rate", step: 0, answer: "good" });
        close();
        vi.setSystemTime(Date.now() + 1_000);
      }
      const here = await reopen({ server, browser });
      expect(here.view.conflict).toBeNull();
      expect(browser.work).toBe(1);
    });

    it("are asked for one after the other where there are three and the server's", async () => {
      const server = new FakeServer(tasks(1));
      const browser = new FakeBrowser();
      const tabs = [await page(server, browser), await page(server, browser), await page(server, browser)];
      for (const { session } of tabs) session.start();
      await settled();
      const elsewhere = await page(server);
      elsewhere.session.start();
      await settled();
      elsewhere.session.dispatch({ type: "comment", value: "elsewhere" });
      await vi.advanceTimersByTimeAsync(2_000);
      for (const [n, { session, close }] of tabs.entries()) {
        session.dispatch({ type: "comment", value: `tab ${n}` });
        close();
        vi.setSystemTime(Date.now() + 1_000);
      }
      const here = await reopen({ server, browser });
      const offered = [];
      while (here.view.conflict) {
        offered.push(here.view.conflict.theirs.work.comment);
        here.session.settle("mine");
      }
      expect(offered).toEqual(["elsewhere", "tab 1", "tab 0"]);
      await vi.advanceTimersByTimeAsync(2_000);
      expect((server.drafts.get(1)!.body as DraftBody).work.comment).toBe("tab 2");
    });
  });

  it("are not in conflict with themselves when the answer of the server was lost", async () => {
    const server = new FakeServer(tasks(1));
    const here = await page(server);
    here.session.start();
    await settled();
    const save = server.saveDraft.bind(server);
    vi.spyOn(server, "saveDraft").mockImplementationOnce(async (...args) => {
      await save(...args);
      throw new NetworkError("lost");
    });
    here.session.dispatch({ type: "rate", step: 0, answer: "good" });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(here.view.saved).toBe("unreachable");
    here.session.dispatch({ type: "rate", step: 10, answer: "good" });
    const reopened = await page(server, here.browser);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(here.view.conflict).toBeNull();
    expect(here.view.saved).toBe("saved");
    reopened.session.start();
    await settled();
    expect(reopened.view.conflict).toBeNull();
  });

  it("saved by a tab in its last moment are not in conflict with the browser's copy", async () => {
    const server = new FakeServer(tasks(1));
    const first = await page(server);
    first.session.start();
    await settled();
    first.session.dispatch({ type: "rate", step: 0, answer: "good" });
    const copy = first.browser.copy();
    first.session.wake();
    await settled();
    const second = await page(server, copy);
    second.session.start();
    await settled();
    expect(second.view.conflict).toBeNull();
    expect(markOf(second.view.state!.work, 0).answer).toBe("good");
  });

  it("are gone once the work is handed in", async () => {
    const server = new FakeServer(tasks(1));
    const here = await page(server);
    here.session.start();
    await settled();
    here.session.dispatch({ type: "first_error", step: 0 });
    here.session.submit();
    await settled();
    expect(here.browser.work).toBe(0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(server.calls.filter((call) => call === "saveDraft")).toEqual([]);
  });

  it("do not trouble the network when only time went by", async () => {
    const server = new FakeServer(tasks(1));
    const here = await page(server);
    here.session.start();
    await settled();
    here.session.dispatch({ type: "rate", step: 0, answer: "good" });
    await vi.advanceTimersByTimeAsync(2_000);
    here.session.dispatch({ type: "spend", ms: 5_000 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(server.drafts.get(1)?.version).toBe(1);
    const later = await page(server, here.browser);
    later.session.start();
    await settled();
    expect(later.view.state!.totalMs).toBe(5_000);
  });
});

describe("two versions of one label", () => {
  /** Both pages hold the solution; the first hands it in, then the second does, not knowing of it. */
  async function disagreeing() {
    const server = new FakeServer(tasks(1));
    const [a, b] = [await page(server), await page(server)];
    a.session.start();
    b.session.start();
    await settled();
    a.session.dispatch({ type: "first_error", step: 0 });
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
    expect(newerVersion(entry!)?.kept.finish_reason).toBe("found_error");
    expect(entry!.submission.finish_reason).toBe("solution");
    const reopened = await page(server, b.browser);
    reopened.session.start();
    expect(reopened.view.refused).toHaveLength(1);
  });

  it.each(["mine", "theirs"] as const)("leave one behind: %s", async (choice) => {
    const { server, b } = await disagreeing();
    b.session.choose(b.view.refused[0]!.submission.submission_id, choice);
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
    first.session.dispatch({ type: "first_error", step: 10 });
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
