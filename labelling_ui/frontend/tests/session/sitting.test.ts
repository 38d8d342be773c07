import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Sitting } from "../../src/session/sitting";
import { memoryStorage } from "../fakes";

const MINUTE = 60_000;

beforeEach(() => void vi.useFakeTimers({ now: new Date("2026-01-01T09:00:00Z") }));
afterEach(() => void vi.useRealTimers());

function sitting({ storage = memoryStorage(), goal = 0 } = {}) {
  return new Sitting({ storage, key: "sitting", breakAfterMs: 50 * MINUTE, goal });
}

function work(on: Sitting, minutes: number): void {
  for (let minute = 0; minute < minutes; minute += 1) {
    vi.advanceTimersByTime(MINUTE);
    on.spend(MINUTE);
  }
}

it("adds up what is done, over pages and after a page is opened again", () => {
  const storage = memoryStorage();
  const [a, b] = [sitting({ storage }), sitting({ storage })];
  work(a, 3);
  a.finished();
  work(b, 2);
  b.finished();
  expect(sitting({ storage }).view()).toMatchObject({ done: 2, workedMs: 5 * MINUTE });
});

it("is a new one after half an hour away, with the goal of the last", () => {
  const here = sitting();
  here.aim(20);
  work(here, 10);
  here.finished();
  vi.advanceTimersByTime(29 * MINUTE);
  expect(here.view().done).toBe(1);
  vi.advanceTimersByTime(MINUTE);
  expect(here.view()).toMatchObject({ done: 0, workedMs: 0, goal: 20 });
});

it("tells once that the goal is reached", () => {
  const here = sitting({ goal: 2 });
  work(here, 1);
  here.finished();
  expect(here.view().proposal).toBeNull();
  here.finished();
  expect(here.view().proposal).toBe("goal");
  here.putOff();
  here.finished();
  expect(here.view().proposal).toBeNull();
  here.aim(4);
  here.finished();
  expect(here.view().proposal).toBe("goal");
});

it("proposes a break after long work, and again a while after it was put off", () => {
  const here = sitting();
  work(here, 49);
  expect(here.view().proposal).toBeNull();
  work(here, 1);
  expect(here.view().proposal).toBe("break");
  here.putOff();
  work(here, 14);
  expect(here.view().proposal).toBeNull();
  work(here, 1);
  expect(here.view().proposal).toBe("break");
});

it("takes a rest for a break, asked for or not", () => {
  const here = sitting();
  work(here, 45);
  here.rest();
  expect(here.view().restingSince).toBe(Date.now());
  here.goOn();
  work(here, 45);
  expect(here.view().proposal).toBeNull();
  vi.advanceTimersByTime(6 * MINUTE);
  work(here, 45);
  expect(here.view().proposal).toBeNull();
});
