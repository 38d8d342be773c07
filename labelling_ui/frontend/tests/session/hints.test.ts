import { expect, it, vi } from "vitest";
import type { Hint } from "../../src/api/types";
import { scoreInSight } from "../../src/state/hints";
import { FakeBrowser } from "../browser";
import { FakeServer } from "../fakes";
import { sampleTask, SEEN } from "../sample";
import { onFakeTime, page, settled } from "./page";

onFakeTime();

const SCORES = [0.9, 0.2, 0.7];

function serverWith(reveal: Hint["reveal"]): FakeServer {
  const tasks = [1, 2].map((lease) => sampleTask({ lease, hint: { reveal, positions: [0, 1, 2] } }));
  const server = new FakeServer(tasks);
  server.scores = SCORES;
  return server;
}

async function begun(server: FakeServer, browser = new FakeBrowser()) {
  const one = await page(server, browser);
  one.session.start();
  await settled();
  return one;
}

const asked = ({ calls }: FakeServer) => calls.filter((call) => call.startsWith("hintScore"));
const inSight = ({ view }: Awaited<ReturnType<typeof page>>) => [0, 1, 2].map((at) => scoreInSight(view.state!, at));

it("fetches the score of a step when it is reached, and none of a later step or of the next solution", async () => {
  const server = serverWith("reached");
  const one = await begun(server);
  expect(one.view.next).not.toBeNull();
  expect(asked(server)).toEqual(["hintScore 1 0"]);
  expect(inSight(one)).toEqual([0.9, null, null]);
  one.session.dispatch({ type: "rate", step: 0, answer: "good" });
  expect(inSight(one)).toEqual([0.9, null, null]);
  await settled();
  expect(inSight(one)).toEqual([0.9, 0.2, null]);
  one.session.dispatch({ type: "move", by: -1 });
  await settled();
  expect(asked(server)).toEqual(["hintScore 1 0", "hintScore 1 1"]);
});

it("fetches the scores of all steps that one key has rated, in their order", async () => {
  const server = serverWith("rated");
  const one = await begun(server);
  expect(asked(server)).toEqual([]);
  one.session.dispatch({ type: "no_error", seen: SEEN });
  await settled();
  expect(asked(server)).toEqual(["hintScore 1 0", "hintScore 1 1", "hintScore 1 2"]);
  expect(one.view.state!.hints_seen.map(({ before }) => before)).toEqual([1, 1, 1]);
});

it("shows no hint while the server cannot be reached, and asks again when a step is visited or the network is back", async () => {
  const server = serverWith("reached");
  server.online = false;
  const one = await begun(server);
  server.online = true;
  one.session.wake();
  await settled();
  server.online = false;
  one.session.dispatch({ type: "move", by: 1 });
  await settled();
  one.session.dispatch({ type: "rate", step: 10, answer: "good" });
  await settled();
  expect(inSight(one)).toEqual([0.9, null, null]);
  expect(one.view.state!.hints_seen).toEqual([{ position: 0, before: null }]);

  const tried = asked(server).length;
  one.session.dispatch({ type: "spend", ms: 100 });
  one.session.dispatch({ type: "comment", value: "Why?" });
  await settled();
  expect(asked(server)).toHaveLength(tried);

  server.online = true;
  one.session.wake();
  await settled();
  expect(inSight(one)).toEqual([0.9, null, 0.7]);
  one.session.dispatch({ type: "go", step: 10 });
  await settled();
  expect(inSight(one)).toEqual([0.9, 0.2, 0.7]);
});

it("asks for the step that was reached while the score of the one before failed to come", async () => {
  const server = serverWith("reached");
  server.scores = [0.9, undefined as unknown as number, 0.7];
  const one = await begun(server);
  one.session.dispatch({ type: "rate", step: 0, answer: "good" });
  one.session.dispatch({ type: "rate", step: 10, answer: "good" });
  await settled();
  expect(inSight(one)).toEqual([0.9, null, 0.7]);
});

it("asks again by the same key where a score on request did not come, and with the next sign of life", async () => {
  const server = serverWith("on_request");
  const one = await begun(server);
  server.online = false;
  one.session.dispatch({ type: "hint", step: 0 });
  one.session.dispatch({ type: "hint", step: 0 });
  await settled();
  expect(inSight(one)).toEqual([null, null, null]);
  server.online = true;
  one.session.dispatch({ type: "hint", step: 0 });
  await settled();
  expect(inSight(one)).toEqual([0.9, null, null]);

  server.online = false;
  one.session.dispatch({ type: "go", step: 10 }, { type: "hint", step: 10 });
  await settled();
  server.online = true;
  await one.session.heartbeat();
  await settled();
  expect(inSight(one)).toEqual([0.9, 0.2, null]);
});

it("fetches again what was seen when a draft is resumed", async () => {
  const server = serverWith("reached");
  const first = await begun(server);
  first.session.dispatch({ type: "rate", step: 0, answer: "good" });
  await settled();
  await vi.advanceTimersByTimeAsync(2_000);
  const { hints_seen: seen } = first.view.state!;
  first.close();
  server.calls = [];
  const second = await begun(server, first.browser);
  expect(asked(server)).toEqual(["hintScore 1 1", "hintScore 1 0"]);
  expect(inSight(second)).toEqual([0.9, 0.2, null]);
  expect(second.view.state!.hints_seen).toEqual(seen);
});

it("fetches no more scores after the solution was left while one was being fetched", async () => {
  const server = serverWith("rated");
  const one = await begun(server);
  one.session.dispatch({ type: "rate", step: 0, answer: "good" });
  one.session.dispatch({ type: "no_error", seen: SEEN });
  expect(one.session.submit()).toBe(true);
  await settled();
  expect(asked(server)).toEqual(["hintScore 1 0"]);
});

it("does not show a score that comes after the solution was handed in", async () => {
  const server = serverWith("rated");
  const one = await begun(server);
  one.session.dispatch({ type: "no_error", seen: SEEN });
  expect(one.session.submit()).toBe(true);
  await settled();
  expect([...server.accepted.values()][0]!.hints_seen).toEqual([]);
  expect(one.view.task!.lease.id).toBe(2);
  expect(inSight(one)).toEqual([null, null, null]);
  expect(asked(server)).toEqual(["hintScore 1 0"]);
});
