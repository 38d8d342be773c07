import { afterAll, beforeAll, expect, it } from "vitest";
import { speak } from "../../src/text";
import { toLabel, reasons, toStored } from "../../src/ui/prompts";

beforeAll(() => speak("de"));
afterAll(() => speak("en"));

const offered = () => reasons((catalogue) => catalogue.stop.reasons.give_up);

it("keeps a reason in English, whatever the reader reads", () => {
  expect(offered()[0]).toEqual({ stored: "Too hard for me", label: "Zu schwer für mich" });
  expect(toStored("Zu schwer für mich", offered())).toBe("Too hard for me");
  expect(toLabel("Too hard for me", offered())).toBe("Zu schwer für mich");
});

it("leaves what somebody wrote as they wrote it", () => {
  expect(toStored("Die Skizze fehlt", offered())).toBe("Die Skizze fehlt");
  expect(toLabel("Die Skizze fehlt", offered())).toBe("Die Skizze fehlt");
});
