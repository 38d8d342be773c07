import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeBrowser } from "../browser";
import { seeded } from "../sample";

const settled = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("what is written", () => {
  it("is on the disk in the end, and in the journal no more", async () => {
    const browser = new FakeBrowser();
    const { storage } = await browser.page();
    storage.set("a", "1");
    expect(browser.journal.get("a")).toBe("1");
    await settled();
    expect([...browser.database]).toEqual([["a", "1"]]);
    expect(browser.journal.size).toBe(0);
  });

  it("is read by pages opened later, and heard of by those that are open", async () => {
    const browser = new FakeBrowser();
    const heard = vi.fn();
    const other = await browser.page(heard);
    const { storage } = await browser.page();
    storage.set("a", "1");
    expect(other.storage.get("a")).toBe("1");
    expect(heard).toHaveBeenCalled();
    other.storage.remove("a");
    expect(storage.keys("")).toEqual([]);
    await settled();
    expect((await browser.page()).storage.keys("")).toEqual([]);
  });

  it("is taken over from pages that knew of the local storage only", async () => {
    const browser = new FakeBrowser();
    browser.journal.set("a", "from before");
    const { storage } = await browser.page();
    expect(storage.get("a")).toBe("from before");
    storage.remove("a");
    await settled();
    expect(browser.keys).toEqual([]);
  });

  it("is newer than what the database has, where a page closed in between", async () => {
    const browser = new FakeBrowser();
    const first = await browser.page();
    first.storage.set("a", "1");
    await settled();
    first.storage.set("a", "2");
    first.storage.remove("b");
    first.close();
    await settled();
    expect(browser.database.get("a")).toBe("1");
    expect((await browser.page()).storage.get("a")).toBe("2");
  });
});

describe("what is taken away", () => {
  it("stays away, though the page closed before the database heard of it", async () => {
    const browser = new FakeBrowser();
    const first = await browser.page();
    first.storage.set("a", "1");
    await settled();
    first.storage.remove("a");
    first.close();
    await settled();
    const second = await browser.page();
    expect(second.storage.get("a")).toBeNull();
    await settled();
    expect(browser.keys).toEqual([]);
  });

  it("is what the page knew of: what another wrote there meanwhile stays", async () => {
    const browser = new FakeBrowser();
    const writer = await browser.page();
    writer.storage.set("a", "1");
    await settled();
    const remover = await browser.page();
    browser.latency = () => new Promise((resolve) => setTimeout(resolve, 5));
    remover.storage.remove("a");
    browser.database.set("a", "2"); // of a page whose word has not come here yet
    await vi.advanceTimersByTimeAsync(5);
    expect(browser.database.get("a")).toBe("2");
  });
});

describe("a store that fails", () => {
  it("is made up for by the other", async () => {
    for (const fault of ["journalFull", "databaseBroken"] as const) {
      const browser = new FakeBrowser();
      browser[fault] = true;
      const { storage, close } = await browser.page();
      storage.set("a", "1");
      await settled();
      expect(storage.survives("a")).toBe(true);
      close();
      expect((await browser.page()).storage.get("a")).toBe("1");
    }
  });

  it("is told of where both fail, for as long as they do", async () => {
    const browser = new FakeBrowser();
    const changed = vi.fn();
    const { storage } = await browser.page(changed);
    browser.journalFull = browser.databaseBroken = true;
    for (const text of ["0", "1"]) {
      storage.set("a", text);
      await settled();
      expect(vi.getTimerCount()).toBe(1);
    }
    expect(storage.survives("a")).toBe(false);
    expect(storage.survives("b")).toBe(true);
    expect(storage.get("a")).toBe("1");
    changed.mockClear();
    browser.databaseBroken = false;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(storage.survives("a")).toBe(true);
    expect(changed).toHaveBeenCalled();
    expect(browser.database.get("a")).toBe("1");
  });

  it("may come late: what was done meanwhile stands, what it has is added", async () => {
    const browser = new FakeBrowser();
    for (const key of ["kept", "changed", "removed"]) browser.database.set(key, "old");
    browser.journal.set("removed", "old");
    browser.databaseBroken = true;
    const { storage } = await browser.page();
    storage.set("changed", "new");
    storage.remove("removed");
    browser.databaseBroken = false;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(storage.keys("").map((key) => [key, storage.get(key)])).toEqual([["changed", "new"], ["kept", "old"]]);
    expect([...browser.database]).toEqual([["kept", "old"], ["changed", "new"]]);
  });
});

/** Pages that write, remove, close at any moment and open again, each with its own keys, on a slow database. */
it.each(Array.from({ length: 40 }, (_, seed) => seed))("loses nothing, whenever pages close (seed %i)", async (seed) => {
  const random = seeded(seed);
  const browser = new FakeBrowser();
  browser.latency = () => new Promise((resolve) => setTimeout(resolve, 20 * random()));
  const fault = ([null, "journalFull", "databaseBroken"] as const)[seed % 3]!;
  const truth = new Map<string, string>();
  for (let round = 0; round < 6; round += 1) {
    const opened = [0, 1].map(() => browser.page());
    await vi.advanceTimersByTimeAsync(50);
    const pages = await Promise.all(opened);
    for (const { storage } of pages) {
      expect(new Map(storage.keys("").map((key) => [key, storage.get(key)!]))).toEqual(truth);
    }
    if (fault) browser[fault] = true;
    for (let step = 0; step < 12; step += 1) {
      const own = Math.floor(2 * random());
      const key = `${own} ${Math.floor(3 * random())}`;
      const text = random() < 0.7 ? `${round} ${step}` : null;
      if (text === null) pages[own]!.storage.remove(key);
      else pages[own]!.storage.set(key, text);
      if (text === null) truth.delete(key);
      else truth.set(key, text);
      await vi.advanceTimersByTimeAsync(15 * random());
    }
    // Without a journal there is only the database, so the test waits for it.
    if (fault === "journalFull") await vi.advanceTimersByTimeAsync(100);
    for (const { close } of pages) close();
    browser.journalFull = browser.databaseBroken = false;
  }
});
