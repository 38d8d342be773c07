import { describe, expect, it } from "vitest";
import { foldAt } from "../../src/reading/RichText";
import { imagesIn, isImage } from "../../src/reading/images";
import { find } from "../../src/reading/search";

const IMAGE = `![plot](data:image/png;base64,${"QUJD".repeat(4_000)})`;

describe("images that a text holds", () => {
  it.each([
    ["data:image/png;base64,AAAA", true],
    ["data:image/svg+xml;base64,AAAA", false],
    ["data:text/html;base64,AAAA", false],
    ["data:image/png,<svg onload=x>", false],
    ["https://example.org/a.png", false],
  ])("%s: %s", (address, shown) => {
    expect(isImage(address)).toBe(shown);
  });

  it("are not folded away for the length of their data, nor cut", () => {
    expect(foldAt(`see\n${IMAGE}\ndone`)).toBe(`see\n${IMAGE}\ndone`.length);
    const long = `see\n${IMAGE}\n${"word ".repeat(4_000)}`;
    expect(imagesIn(long)).toEqual([{ from: 4, to: 4 + IMAGE.length }]);
    expect(foldAt(long)).toBe(4 + IMAGE.length);
  });

  it("hold nothing to be found", () => {
    expect(find([{ id: 1, text: `QUJD ${IMAGE}` }], "QUJD")).toEqual([{ step: 1, from: 0, to: 4 }]);
  });
});
