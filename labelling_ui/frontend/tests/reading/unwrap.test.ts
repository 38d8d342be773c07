import { expect, test } from "vitest";

import { unwrap } from "../../src/reading/unwrap";

test("lines of one paragraph and of one list item become one", () => {
  expect(unwrap("One\ntwo.\n\n- item\n  goes on\n- next")).toBe("One two.\n\n- item goes on\n- next");
});

test("headings, tables and code keep their lines", () => {
  const text = "# Head\nbody\n\n| a |\n| b |\n\n```\nx = 1\ny = 2\n```\nafter";
  expect(unwrap(text)).toBe(text);
});
