import { describe, expect, it } from "vitest";
import { parse, parseInline } from "../../src/reading/parse";
import { typeset } from "../../src/reading/typeset";

describe("maths", () => {
  it.each([
    ["$x^2$", "x^2"],
    ["\\(x^2\\)", "x^2"],
    ["\\boxed{\\frac{1}{2}}", "\\boxed{\\frac{1}{2}}"],
    ["$\\$1.24$", "\\$1.24"],
    ["$a$", "a"],
  ])("in a line: %s", (text, tex) => {
    expect(parseInline(text)).toEqual([{ type: "math", tex, source: text }]);
  });

  it.each([
    ["$$x$$", "x"],
    ["\\[\nx\n\\]", "\nx\n"],
    ["\\begin{align*}a&=b\\\\c&=d\\end{align*}", "\\begin{align*}a&=b\\\\c&=d\\end{align*}"],
  ])("by itself: %s", (text, tex) => {
    expect(parse(text)).toEqual([{ type: "math", tex, source: text }]);
  });

  it("stands between paragraphs where it is by itself", () => {
    expect(parse("We get\n\\[x\\]\nso.").map((block) => block.type)).toEqual(["paragraph", "math", "paragraph"]);
  });

  it("is not made of prices", () => {
    expect(parseInline("It costs $5 and then $7.50, or \\$8.")).toEqual([
      { type: "text", text: "It costs $5 and then $7.50, or $8." },
    ]);
  });

  it("left open stays text", () => {
    expect(parse("so \\[ x = 1")).toEqual([
      { type: "paragraph", inlines: expect.anything() },
    ]);
    expect(parse("a $x and no end")[0]).toMatchObject({ type: "paragraph" });
  });

  it("does not run over the end of its own brace", () => {
    expect(parseInline("\\boxed{9}.")).toEqual([
      { type: "math", tex: "\\boxed{9}", source: "\\boxed{9}" },
      { type: "text", text: "." },
    ]);
  });
});

describe("code", () => {
  it("keeps its fence's language and its text untouched", () => {
    expect(parse("Run\n```python\nprice = $5 * 2  # $x$\n```\ndone")).toEqual([
      { type: "paragraph", inlines: [{ type: "text", text: "Run" }] },
      { type: "code", language: "python", text: "price = $5 * 2  # $x$" },
      { type: "paragraph", inlines: [{ type: "text", text: "done" }] },
    ]);
  });

  it("may lack its closing fence", () => {
    expect(parse("```\nx = 1\n")).toEqual([{ type: "code", language: "", text: "x = 1\n" }]);
  });

  it("hides maths in a line too", () => {
    expect(parseInline("`$x$`")).toEqual([{ type: "code", text: "$x$" }]);
  });

  it("is how drawings are shown", () => {
    expect(parse("[asy]draw((0,0)--(1,1));[/asy]")).toEqual([
      { type: "code", language: "asymptote", text: "draw((0,0)--(1,1));" },
    ]);
  });
});

describe("text", () => {
  it("keeps headings, strong words and paragraphs apart", () => {
    expect(parse("## Step 1\nTake **two**.\n\nNext")).toEqual([
      { type: "heading", inlines: [{ type: "text", text: "Step 1" }] },
      {
        type: "paragraph",
        inlines: [
          { type: "text", text: "Take " },
          { type: "strong", text: "two" },
          { type: "text", text: "." },
        ],
      },
      { type: "paragraph", inlines: [{ type: "text", text: "Next" }] },
    ]);
  });

  it("keeps the markers of a list as written", () => {
    expect(parse("So:\n1. one\n2) two\nend")).toEqual([
      { type: "paragraph", inlines: [{ type: "text", text: "So:" }] },
      {
        type: "list",
        items: [
          { marker: "1.", inlines: [{ type: "text", text: "one" }] },
          { marker: "2)", inlines: [{ type: "text", text: "two" }] },
        ],
      },
      { type: "paragraph", inlines: [{ type: "text", text: "end" }] },
    ]);
  });

  it("leaves products and markup as they are", () => {
    expect(parseInline("3 * 4 ** 2 <b>&amp;</b>")).toEqual([{ type: "text", text: "3 * 4 ** 2 <b>&amp;</b>" }]);
  });

  it.each(["", "\n", "\\", "$", "$$", "`", "```", "**", "\\boxed{", "[asy]", "\\begin{x}", "\\$"])(
    "does not stumble over %j",
    (text) => {
      expect(() => parse(text)).not.toThrow();
    },
  );

  it("reads long text with many open signs in reasonable time", () => {
    const started = performance.now();
    parse("$ \\[ \\begin{a} ` * [asy] ~~~ ".repeat(400));
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe("typesetting", () => {
  it("gives nothing for a broken formula, so that its source is shown", () => {
    expect(typeset("\\frac{1}{", false)).toBeNull();
    expect(typeset("\\nosuchcommand", false)).toBeNull();
  });

  it.each(["\\boxed{$400}", "\\boxed{70%}", "5\\mbox{ cm}"])("reads what models write without care: %s", (tex) => {
    expect(typeset(tex, false)).not.toBeNull();
  });

  it.each(["\\href{https://example.org}{x}", "\\includegraphics{https://example.org/a.png}", "\\htmlClass{a}{x}"])(
    "makes no link and loads nothing: %s",
    (tex) => {
      expect(typeset(tex, false) ?? "").not.toMatch(/<a |<img|href=|src=|class="a"/);
    },
  );
});
