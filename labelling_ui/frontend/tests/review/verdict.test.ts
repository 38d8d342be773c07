import { describe, expect, it } from "vitest";
import { following, isWhole, withFirstError } from "../../src/review/verdict";

describe("a reviewer's verdict", () => {
  it("takes what came before the first error for good, and leaves what was said of it", () => {
    expect(withFirstError(["0", null, "-1", null, "1"], 3)).toEqual(["0", "1", "1", "-1", "1"]);
  });

  it("goes on with the next step that has no rating, not beyond the first error", () => {
    expect(following(["1", "1", null], 0, true)).toBe(2);
    expect(following(["1", "-1", null], 1, true)).toBe(1);
    expect(following(["1", "-1", null], 1, false)).toBe(2);
  });

  it("is whole when every step that is asked for has a rating", () => {
    expect(isWhole(["1", "-1", null], true)).toBe(true);
    expect(isWhole(["1", "-1", null], false)).toBe(false);
    expect(isWhole(["1", null, "-1"], true)).toBe(false);
  });
});
