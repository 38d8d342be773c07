import { describe, expect, it, vi } from "vitest";
import { NetworkError } from "../../src/api/call";
import { markOf } from "../../src/state/model";
import type { DraftBody } from "../../src/state/draft";
import { FakeBrowser } from "../browser";
import { FakeServer } from "../fakes";
import { SEEN } from "../sample";
import { onFakeTime, page, settled, tasks } from "./page";

onFakeTime();

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
    /** Both tabs wrote, the second a minute later, and neither reached the server. */
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

  it("that say the same in two places are no question", async () => {
    const server = new FakeServer(tasks(1));
    const [a, b] = [await page(server), await page(server)];
    for (const { session } of [a, b]) {
      session.start();
      await settled();
      session.dispatch({ type: "rate", step: 0, answer: "good" });
      vi.setSystemTime(Date.now() + 1_000);
    }
    await vi.advanceTimersByTimeAsync(10_000);
    expect(a.view).toMatchObject({ conflict: null, saved: "saved" });
    expect(b.view).toMatchObject({ conflict: null, saved: "saved" });
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
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
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
    expect(later.view.state!.total_ms).toBe(5_000);
  });
});
