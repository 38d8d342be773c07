import { describe, expect, it } from "vitest";
import { typeset } from "../../src/reading/typeset";

describe("typesetting", () => {
  it("gives nothing for a broken formula, so that its source is shown", () => {
    expect(typeset("\\frac{1}{", false)).toBeNull();
    expect(typeset("\\nosuchcommand", false)).toBeNull();
  });

  it.each(["\\boxed{$400}", "\\boxed{70%}", "5\\mbox{ cm}", "(r + 1) # s", "\\begin{tabular}{c|c}a&b\\\\\\hline 1&2\\end{tabular}"])(
    "reads what models write without care: %s",
    (tex) => {
      expect(typeset(tex, false)).not.toBeNull();
    },
  );

  it("takes a percent sign for one, since a comment would hide the rest", () => {
    expect(typeset("70% of 20", false)).toContain("20");
    expect(typeset("70\\% of 20", false)).toBe(typeset("70% of 20", false)!.replace("70% of 20<", "70\\% of 20<"));
  });
});
