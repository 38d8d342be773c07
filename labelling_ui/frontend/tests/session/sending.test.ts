import { describe, expect, it, vi } from "vitest";
import { FakeBrowser } from "../browser";
import { FakeServer } from "../fakes";
import { SEEN } from "../sample";
import { onFakeTime, page, settled, tasks } from "./page";

onFakeTime();

describe("what is handed in", () => {
  it("goes on without network, and sends each piece of work once it is back", async () => {
    const server = new FakeServer(tasks(3));
    const here = await page(server);
    here.session.start();
    await settled();
    server.online = false;
    for (const lease of [1, 2]) {
      expect(here.view.task?.lease.id).toBe(lease);
      here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
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
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    here.session.submit();
    await settled();
    expect(here.view.task).toBeNull();
    expect(here.view.idle.kind).toBe("sending");
  });

  it("brings the next solution with the same request", async () => {
    const server = new FakeServer(tasks(4));
    const here = await page(server);
    here.session.start();
    await settled();
    server.calls = [];
    for (const lease of [1, 2, 3]) {
      expect(here.view.task?.lease.id).toBe(lease);
      here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
      here.session.submit();
      await settled();
    }
    expect(here.view.task?.lease.id).toBe(4);
    expect(here.view.next).toBeNull();
    expect(server.calls.filter((call) => call !== "progress")).toEqual(["submit", "submit", "submit"]);
  });

  it("brings the next solution also where none is fetched ahead", async () => {
    const server = new FakeServer(tasks(3), 0);
    const here = await page(server, new FakeBrowser(), null, 0);
    here.session.start();
    await settled();
    server.calls = [];
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    here.session.submit();
    expect(here.view.task).toBeNull();
    await settled();
    expect(here.view.task?.lease.id).toBe(2);
    expect(server.calls.filter((call) => call !== "progress")).toEqual(["submit"]);
  });

  it("says why the next solution is missing, as a claim would", async () => {
    const server = new FakeServer(tasks(1));
    const here = await page(server);
    here.session.start();
    await settled();
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    here.session.submit();
    await settled();
    expect(here.view.idle).toMatchObject({ kind: "done", message: "All done." });
  });

  it("is sent alone after a failure, because a claim that fails must not keep it here", async () => {
    const server = new FakeServer(tasks(3));
    const here = await page(server);
    here.session.start();
    await settled();
    const submit = vi.spyOn(server, "submit");
    server.online = false;
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    here.session.submit();
    await settled();
    server.online = true;
    here.session.wake();
    await settled();
    expect(submit.mock.calls.map(([, holding]) => holding)).toEqual([[2, 1], undefined]);
    expect(here.view.next?.lease.id).toBe(3);
  });

  it("says so when the lease ended, and still takes the submission", async () => {
    const server = new FakeServer(tasks(1));
    const here = await page(server);
    here.session.start();
    await settled();
    server.endedLeases.add(1);
    await here.session.heartbeat();
    expect(here.view.leaseEnded).toBe("It ended.");
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
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

  it("is sent by another tab that can, and counts here too", async () => {
    const server = new FakeServer(tasks(3));
    const here = await page(server);
    here.session.start();
    await settled();
    server.signedIn = false;
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
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

it("shows the latest progress, whichever answer comes last", async () => {
  const server = new FakeServer(tasks(1));
  let late = () => {};
  const first = server.progress();
  vi.spyOn(server, "progress").mockReturnValueOnce(new Promise((resolve) => (late = () => resolve(first))));
  const here = await page(server);
  here.session.start();
  await settled();
  here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
  here.session.submit();
  await settled();
  late();
  await settled();
  expect(here.view.progress?.today).toBe(1);
});

describe("a skip", () => {
  const why = "Not my field.";

  it("needs no network, keeps its place among what is handed in, and its draft until the server has it", async () => {
    const server = new FakeServer(tasks(4), 3);
    const here = await page(server, new FakeBrowser(), null, 3);
    here.session.start();
    await settled();
    server.online = false;
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    here.session.submit();
    here.session.dispatch({ type: "step_comment", step: 0, value: "unreadable" });
    here.session.skip(why);
    expect(here.view.task?.lease.id).toBe(3);
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    here.session.submit();
    await settled();
    expect(here.view).toMatchObject({ waiting: 3, saved: "unreachable", sitting: { done: 2 } });
    expect(JSON.stringify([...here.browser.database.values()])).toContain("unreadable");
    server.calls = [];
    server.online = true;
    here.session.wake();
    await settled();
    expect(server.calls.filter((call) => call === "submit" || call === "release")).toEqual(["submit", "release", "submit"]);
    expect(server.released).toEqual([{ lease: 2, reason: why }]);
    expect(here.browser.work).toBe(0);
  });

  it("survives a closed tab, and its solution does not come back meanwhile", async () => {
    const server = new FakeServer(tasks(2));
    const first = await page(server);
    first.session.start();
    await settled();
    server.online = false;
    first.session.skip(why);
    first.close();
    server.online = true;
    const second = await page(server, first.browser);
    second.session.start();
    await settled();
    expect(second.view.task?.lease.id).toBe(2);
    expect(server.released).toEqual([{ lease: 1, reason: why }]);
  });

  it("from two tabs is one", async () => {
    const server = new FakeServer(tasks(1));
    const browser = new FakeBrowser();
    const [a, b] = [await page(server, browser), await page(server, browser)];
    for (const { session } of [a, b]) session.start();
    await settled();
    server.online = false;
    a.session.skip(why);
    b.session.skip("Too long.");
    expect(a.view.waiting).toBe(1);
    server.online = true;
    a.session.wake();
    b.session.wake();
    await settled();
    expect(server.released).toHaveLength(1);
    expect(browser.work).toBe(0);
  });

  it("of what another tab has handed in meanwhile is dropped: that label stands", async () => {
    const server = new FakeServer(tasks(1));
    const browser = new FakeBrowser();
    const [a, b] = [await page(server, browser), await page(server, browser)];
    for (const { session } of [a, b]) session.start();
    await settled();
    b.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    b.session.submit();
    a.session.skip(why);
    await settled();
    expect(server.accepted.size).toBe(1);
    expect(server.released).toEqual([]);
    expect(a.view).toMatchObject({ refused: [], waiting: 0 });
    expect(browser.work).toBe(0);
  });
});
