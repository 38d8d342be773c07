import { describe, expect, it, vi } from "vitest";
import { FakeBrowser } from "../browser";
import { FakeServer } from "../fakes";
import { SEEN } from "../sample";
import { onFakeTime, page, settled, tasks } from "./page";

onFakeTime();

describe("flow", () => {
  it("has the next in hand before it is needed", async () => {
    const server = new FakeServer(tasks(3));
    const here = await page(server);
    here.session.start();
    await settled();
    expect(here.view.task?.lease.id).toBe(1);
    expect(here.view.next?.lease.id).toBe(2);
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    here.session.submit();
    expect(here.view.next).toBeNull();
    // Not one turn of the event loop later: the network had no part in it.
    expect(here.view.task?.lease.id).toBe(2);
    await settled();
    expect(here.view.progress?.today).toBe(1);
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    here.session.submit();
    expect(here.view.task?.lease.id).toBe(3);
  });

  it("draws the page once for a key, whatever it sets going", async () => {
    const here = await page(new FakeServer(tasks(3)));
    here.session.start();
    await settled();
    expect(here.drawn(() => here.session.dispatch({ type: "spend", ms: 5 }, { type: "rate", step: 0, answer: "good" }))).toBe(1);
    here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
    expect(here.drawn(() => here.session.submit())).toBe(1);
    expect(here.view.task?.lease.id).toBe(2);
    expect(here.drawn(() => here.session.skip("too long"))).toBe(1);
  });

  it("shows guidelines that changed with the next solution, and each label states the version on the screen", async () => {
    const server = new FakeServer(tasks(4));
    const here = await page(server);
    const submit = async () => {
      here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
      here.session.submit();
      await settled();
    };
    here.session.start();
    await settled();
    server.guidelinesNow = { version: 2, text: "Be strict.", examples: [] };
    await submit(); // the second solution was prefetched under the first version
    expect(here.view.guidelinesChanged).toBe(false);
    await submit();
    expect(here.view.guidelines.text).toBe("Be strict.");
    expect(here.view.guidelinesChanged).toBe(true);
    here.session.readGuidelines();
    expect(here.view.guidelinesChanged).toBe(false);
    await submit();
    expect([...server.accepted.values()].map(({ guidelines }) => guidelines)).toEqual([0, 0, 2]);
    expect(server.calls.filter((call) => call === "guidelines")).toHaveLength(1);
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
      here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
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
      here.session.dispatch({ type: "first_error", step: 0, seen: SEEN });
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
    here.session.dispatch({ type: "spend", ms: 40_000 }, { type: "first_error", step: 0, seen: SEEN });
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
});
