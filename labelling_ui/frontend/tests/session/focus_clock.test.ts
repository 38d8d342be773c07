import { expect, it } from "vitest";
import { FocusClock } from "../../src/session/focus_clock";

function clockAt() {
  const world = { now: 0, focused: true };
  const clock = new FocusClock(
    () => world.now,
    () => world.focused,
  );
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
  const world = { now: 0, focused: false };
  const clock = new FocusClock(
    () => world.now,
    () => world.focused,
  );
  world.now = 5_000;
  expect(clock.take()).toBe(0);
});
