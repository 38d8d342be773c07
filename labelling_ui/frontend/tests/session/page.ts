import { afterEach, beforeEach, vi } from "vitest";
import { Session } from "../../src/session/session";
import type { View } from "../../src/session/view";
import { FakeBrowser } from "../browser";
import type { FakeServer } from "../fakes";
import { sampleTask } from "../sample";

/** Solutions of two steps each, in leases 1, 2, and so on. */
export function tasks(count: number) {
  return Array.from({ length: count }, (_, index) => sampleTask({ lease: index + 1, alternatives: [1, 1] }));
}

/** A page of a browser on its way to the first solution; `close` is a closed tab, whose calls never arrive. */
export async function page(server: FakeServer, browser = new FakeBrowser(), revise: number | null = null, depth = 1) {
  const seen: { view: View | null; times: number } = { view: null, times: 0 };
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
    guidelines: { version: 0, text: "", examples: [] },
    revise,
    prefetchDepth: depth,
    leaseMinutes: 30,
    pace: { breakAfterMinutes: 50, goal: 0 },
    onView: (view) => {
      seen.view = view;
      seen.times += 1;
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
    /** The number of renders during an action. */
    drawn: (what: () => void): number => {
      const before = seen.times;
      what();
      return seen.times - before;
    },
    get view(): View {
      if (!seen.view) throw new Error("nothing shown yet");
      return seen.view;
    },
  };
}

/** Runs the pending promises without letting time pass. */
export const settled = () => vi.advanceTimersByTimeAsync(0);

/** For the tests of a file: time passes only when it is set forward, and waits have no jitter. */
export function onFakeTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({ now: new Date("2026-01-01T09:00:00Z") });
    vi.spyOn(Math, "random").mockReturnValue(1);
  });
  afterEach(() => void vi.useRealTimers());
}
