import { h } from "preact";
import { expect, test } from "vitest";
import type { View } from "../../src/session/view";
import { Header } from "../../src/ui/Header";
import { Drawn } from "../drawn";
import { config, PROGRESS, view } from "./desk";

const drawn = (shown: Partial<View>) =>
  new Drawn(h(Header, { config, view: view(shown), panel: null, onPanel: () => {}, onSkip: () => {} }));

test("a project's name begins where its own writing does, so that what is cut off is its end", () => {
  expect(drawn({}).ofClass("project")[0]?.attributes.dir).toBe("auto");
});

test("what was sent back is counted in the head, a link to the list of it that has a key", () => {
  const [link] = drawn({ progress: { ...PROGRESS, sent_back: 3 } }).ofClass("returned");
  expect(link?.text).toBe("3 sent back to you");
  expect(link?.attributes).toMatchObject({ href: "/p/algebra/sent-back/", "aria-keyshortcuts": "l" });
});

test("where nothing was sent back, nothing is said of it", () => {
  expect(drawn({}).ofClass("returned")).toEqual([]);
  expect(drawn({ progress: null }).ofClass("returned")).toEqual([]);
});

test("the day's work is counted, or the sitting's where it has a goal", () => {
  expect(drawn({}).ofClass("today")[0]?.text).toBe("7 today");
  const sitting = { ...view().sitting, goal: 20, done: 4 };
  expect(drawn({ sitting }).ofClass("today")[0]?.text).toBe("4 of 20");
});

test("a screening tells its place while it lasts", () => {
  const screening = { finished: 2, items: 5, outcome: null, right: null, of: null };
  expect(drawn({ progress: { ...PROGRESS, screening } }).text).toContain("2 of 5");
});

test("it says whether the work is kept, and in practice how it goes instead", () => {
  expect(drawn({ saved: "unreachable" }).ofClass("saved")[0]?.attributes["data-saved"]).toBe("unreachable");
  const practice = { begins: false, place: 2, of: 4, right: 1, total: 4, known: 0, explanation: null };
  const practising = drawn({ practice });
  expect(practising.ofClass("saved")).toEqual([]);
  expect(practising.text).toContain("2 of 4");
});
