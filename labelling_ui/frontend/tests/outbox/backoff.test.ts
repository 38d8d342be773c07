import { expect, it, vi } from "vitest";
import { Backoff } from "../../src/outbox/backoff";

it("doubles up to half a minute, leaves up to half to chance, and begins anew", () => {
  const backoff = new Backoff(1_000);
  vi.spyOn(Math, "random").mockReturnValue(1);
  expect(Array.from({ length: 7 }, () => backoff.next())).toEqual([1, 2, 4, 8, 16, 30, 30].map((s) => s * 1_000));
  vi.spyOn(Math, "random").mockReturnValue(0);
  expect(backoff.next()).toBe(15_000);
  backoff.reset();
  expect(backoff.next()).toBe(500);
});
