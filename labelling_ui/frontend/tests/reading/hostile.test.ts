import { describe, expect, it } from "vitest";
import { parse } from "../../src/reading/blocks";
import { highlight } from "../../src/reading/highlighter";
import { typeset } from "../../src/reading/typeset";

// The limit stops what would never end. Work that grows with the square of the text takes far longer.
const PATIENCE_MS = 60_000;

describe("text made to hang the page", () => {
  it.each([
    ["open signs of every kind", "$ \\[ \\begin{align} ` * [asy] ~~~ ".repeat(2_000)],
    ["backticks", "`".repeat(64_000)],
    ["brackets", "[".repeat(64_000)],
    ["links within links", "[ [a](b)".repeat(8_000)],
    ["stars", "**a *b ".repeat(9_000)],
    ["formulas over paragraphs", `${"\\(".repeat(20_000)}\n\n\\)`],
    ["environments", `${"\\begin{align}".repeat(5_000)}\\end{align}`],
    ["braces", "\\frac{".repeat(10_000)],
    ["bars", `${"|".repeat(20_000)}\n${"|-".repeat(20_000)}|\n`],
    ["fences", "```\n~~~\n".repeat(8_000)],
    ["dollars", "\\$$".repeat(20_000)],
  ])("%s", { timeout: PATIENCE_MS }, (_, text) => {
    expect(() => parse(text)).not.toThrow();
  });
});

describe("formulas", () => {
  it.each(["\\href{https://example.org}{x}", "\\includegraphics{https://example.org/a.png}", "\\htmlClass{a}{x}", "\\url{http://x.y}"])(
    "make no link and load nothing: %s",
    (tex) => {
      expect(typeset(tex, false), "its source is shown").toBeNull();
    },
  );

  it("escape what they hold", () => {
    expect(typeset("\\text{<img src=x onerror=alert(1)>}", false)).not.toContain("<img");
  });

  it("cannot define macros without end", () => {
    expect(typeset("\\def\\a{\\a\\a}\\a", false)).toBeNull();
  });
});

describe("highlighted code", () => {
  it("holds nothing but spans", () => {
    const lines = highlight('print("<img src=x onerror=alert(1)>") # <script>', "python")!;
    expect(lines.join("\n").replace(/<\/?span[^>]*>/g, "")).not.toMatch(/[<>]/);
  });

  it("has the lines of its code, each with its own colours", () => {
    const lines = highlight('"""one\ntwo"""\nx = 1', "python")!;
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line.match(/<span/g)?.length).toBe(line.match(/<\/span/g)?.length);
  });

  it("is left alone in a language that nobody knows", () => {
    expect(highlight("x", "nosuch")).toBeNull();
  });
});
