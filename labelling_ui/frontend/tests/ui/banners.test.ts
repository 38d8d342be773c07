import { h } from "preact";
import { expect, test } from "vitest";
import type { Progress } from "../../src/api/types";
import type { Config } from "../../src/config";
import type { View } from "../../src/session/view";
import { text } from "../../src/text";
import { Banners } from "../../src/ui/Banners";
import { Drawn } from "../drawn";
import { sampleTask } from "../sample";
import { config, PROGRESS, view } from "./desk";

const sentBack = { reason: "Look at step 3 again.", place: 2, of: 5, nextUrl: null };

function banners(shown: Partial<View>, told: Partial<Config> = {}): string[] {
  const props = { view: view(shown), session: {} as never, config: { ...config, ...told }, onBreak: () => {} };
  return new Drawn(h(Banners, props)).ofClass("banner").map((banner) => banner.text);
}

test("a label that was sent back says why, and where it stands among those that were", () => {
  const said = banners({ revising: true, task: sampleTask() }, { sentBack });
  expect(said).toEqual([text.banner.sentBack("Look at step 3 again.", 2, 5)]);
  expect(said[0]).toContain("Look at step 3 again.");
  expect(said[0]).toContain("2 of 5");
});

test("once it is answered, and for a label that one opened oneself, nothing is said of sending back", () => {
  expect(banners({ revising: true, task: null }, { sentBack })).toEqual([]);
  expect(banners({ revising: true, task: sampleTask() })).toEqual([]);
});

test("who is signed out is asked to sign in only while there is work to keep", () => {
  const [said] = banners({ saved: "signed_out", task: sampleTask() });
  expect(said).toContain(text.banner.signIn);
  expect(banners({ saved: "signed_out" })).toEqual([]);
});

test("where the browser keeps nothing, that is said as long as something is not sent", () => {
  expect(banners({ durable: false, waiting: 1 })).toEqual([text.banner.notDurable]);
  expect(banners({ durable: false })).toEqual([]);
});

test("changed guidelines are announced until the person dismisses it", () => {
  expect(banners({ guidelinesChanged: true })[0]).toContain(text.banner.guidelinesChanged("g"));
  expect(banners({ guidelinesChanged: false })).toEqual([]);
});

test("one who begins a screening is told of it, and one who passed it", () => {
  const begun: NonNullable<Progress["screening"]> = { finished: 0, items: 1, outcome: null, right: null, of: null };
  const told = (change: Partial<typeof begun>) => banners({ progress: { ...PROGRESS, screening: { ...begun, ...change } } });
  expect(told({})[0]).toContain("1 solution whose answer is known. It decides");
  expect(told({ finished: 1 })).toEqual([]);
  expect(told({ finished: 1, outcome: "passed", right: 1, of: 1 })[0]).toContain("1 of 1");
});
