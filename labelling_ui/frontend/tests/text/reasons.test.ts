import { afterAll, beforeAll, expect, it } from "vitest";
import { speak } from "../../src/text";
import { inWords, reasons, toKeep } from "../../src/ui/prompts";

beforeAll(() => speak("de"));
afterAll(() => speak("en"));

const offered = () => reasons((catalogue) => catalogue.stop.reasons.give_up);

it("keeps a reason in English, whatever the reader reads", () => {
  expect(offered()[0]).toEqual({ kept: "Too hard for me", said: "Zu schwer für mich" });
  expect(toKeep("Zu schwer für mich", offered())).toBe("Too hard for me");
  expect(inWords("Too hard for me", offered())).toBe("Zu schwer für mich");
});

it("leaves what somebody wrote as they wrote it", () => {
  expect(toKeep("Die Skizze fehlt", offered())).toBe("Die Skizze fehlt");
  expect(inWords("Die Skizze fehlt", offered())).toBe("Die Skizze fehlt");
});
