import { expect, it } from "vitest";
import { FocusClock } from "../../src/ui/focus_clock";

function clockAt({ focused = true, idleAfter = 120_000 } = {}) {
  const world = { now: 0, focused };
  const clock = new FocusClock(() => world.now, () => world.focused, idleAfter);
  return { world, clock };
}

it("gives the time since the last take", () => {
  const { world, clock } = clockAt();
  world.now = 400;
  expect(clock.take()).toBe(400);
  world.now = 1_000;
  expect(clock.take()).toBe(600);
  expect(clock.take()).toBe(0);
});

it("does not count while the page is away", () => {
  const { world, clock } = clockAt();
  world.now = 100;
  world.focused = false;
  clock.sync();
  world.now = 60_000;
  world.focused = true;
  clock.sync();
  world.now = 60_050;
  expect(clock.take()).toBe(150);
});

it("does not begin before the page is in front", () => {
  const { world, clock } = clockAt({ focused: false });
  world.now = 5_000;
  expect(clock.take()).toBe(0);
});

it("stops when the hand has rested for too long, however often it is asked, and goes on with its next movement", () => {
  const { world, clock } = clockAt({ idleAfter: 1_000 });
  const taken = [];
  for (const now of [600, 1_200, 1_800, 7_000]) {
    world.now = now;
    taken.push(clock.take());
  }
  expect(taken).toEqual([600, 400, 0, 0]);
  expect(clock.rested()).toBe(7_000);
  clock.moved();
  world.now = 7_300;
  expect(clock.take()).toBe(300);
});

it("counts all of a rest that ends in time: reading moves no hand", () => {
  const { world, clock } = clockAt({ idleAfter: 1_000 });
  for (const now of [900, 1_800, 2_700]) {
    world.now = now;
    clock.moved();
  }
  expect(clock.take()).toBe(2_700);
});

it("counts nothing of a night in which the computer slept but what was allowed", () => {
  const { world, clock } = clockAt({ idleAfter: 1_000 });
  world.now = 8 * 3_600_000;
  clock.moved();
  expect(clock.take()).toBe(1_000);
});
