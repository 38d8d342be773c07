import { describe, expect, it } from "vitest";
import { blocksOf, inlinesOf, maths, said } from "./shape";

describe("formulas in a line", () => {
  it.each([
    ["$x^2$", "x^2"],
    ["$a$", "a"],
    ["\\(x^2\\)", "x^2"],
    ["$\\$1.24$", "\\$1.24"],
    ["\\boxed{\\frac{1}{2}}", "\\boxed{\\frac{1}{2}}"],
    ["\\frac{5}{12}", "\\frac{5}{12}"],
    ["\\sqrt[3]{8}", "\\sqrt[3]{8}"],
    ["\\infty", "\\infty"],
  ])("%s", (text, tex) => {
    expect(inlinesOf(text)).toEqual([maths(tex)]);
  });

  it.each([
    ["$ \\frac{1}{31} \\div \\frac{1}{93} $", " \\frac{1}{31} \\div \\frac{1}{93} "],
    ["$x\\div d = 2 $", "x\\div d = 2 "],
    ["$ x_1 + x_2$", " x_1 + x_2"],
    ["$ n $", " n "],
    ["$ \\text{the whole area} = \\pi r^2 $", " \\text{the whole area} = \\pi r^2 "],
  ])("stand between dollars with spaces, where they look like mathematics: %s", (text, tex) => {
    expect(inlinesOf(text)).toEqual([maths(tex)]);
  });

  it("end with their own brace", () => {
    expect(inlinesOf("\\boxed{9}.")).toEqual([maths("\\boxed{9}"), said(".")]);
  });

  it("stand in emphasis, lists and tables too", () => {
    expect(inlinesOf("**Case $x=1$:**")).toEqual([
      { type: "strong", inlines: [said("Case "), maths("x=1"), said(":")] },
    ]);
    expect(blocksOf("- so \\(y\\)")).toMatchObject([{ type: "list", items: [{ inlines: [said("so "), maths("y")] }] }]);
  });
});

describe("formulas that stand by themselves", () => {
  it.each([
    ["$$x$$", "x"],
    ["\\[\nx\n\\]", "\nx\n"],
    ["\\[a\n\nb\\]", "a\n\nb"],
    ["\\begin{align*}a&=b\\\\c&=d\\end{align*}", "\\begin{align*}a&=b\\\\c&=d\\end{align*}"],
    ["\\begin{array}{c}\\begin{array}{c}a\\end{array}\\end{array}", "\\begin{array}{c}\\begin{array}{c}a\\end{array}\\end{array}"],
  ])("%s", (text, tex) => {
    expect(blocksOf(text)).toEqual([{ type: "paragraph", depth: 0, inlines: [maths(tex, true)] }]);
  });

  it("need no empty lines around them", () => {
    expect(inlinesOf("We get\n\\[x\\]\nso.")).toEqual([said("We get"), maths("x", true), said("so.")]);
  });

  it("belong to the item of a list that they are set in under", () => {
    expect(blocksOf("1. First\n   \\[\n   x\n   \\]\n2. Second")).toEqual([
      {
        type: "list",
        items: [
          { marker: { text: "1." }, depth: 0, inlines: [said("First"), maths("\n   x\n   ", true)] },
          { marker: { text: "2." }, depth: 0, inlines: [said("Second")] },
        ],
      },
    ]);
  });
});

describe("what is no formula", () => {
  it("prices", () => {
    const text = "It costs $5 and then $7.50 (50% of $15), or $5-$10.";
    expect(inlinesOf(text)).toEqual([said(text)]);
    expect(inlinesOf("or \\$8")).toEqual([said("or "), said("$"), said("8")]);
  });

  it.each([
    "so 20 + 22.78 = $42.78 = $",
    "tickets at $ 5 each, so $ 10",
    "it costs $5_ and $ more",
    "5$ for x_1 and 6$ for x_2",
    "$5^2 if sold, else $ 3",
  ])("prices with spaces: %s", (text) => {
    expect(inlinesOf(text)).toEqual([said(text)]);
  });

  it("a price before a formula", () => {
    expect(inlinesOf("for $5_000 or $x_1$")).toEqual([said("for $5_000 or "), maths("x_1")]);
  });

  it.each(["so \\[ x = 1", "a $x and no end", "\\( x", "$$", "\\[ \\]", "\\begin{align} x", "\\begin{itemize}\\end{itemize}"])(
    "what is left open, empty, or no mathematics stays text: %s",
    (text) => {
      expect(inlinesOf(text)).toEqual([said(text)]);
    },
  );

  it("a break of line in LaTeX, which looks like the beginning of one", () => {
    expect(inlinesOf("a \\\\[2pt] b \\] c")).toEqual([said("a \\\\[2pt] b \\] c")]);
  });

  it("dollars in different paragraphs", () => {
    expect(blocksOf("a $x\n\ny$ b").map((block) => block.type)).toEqual(["paragraph", "paragraph"]);
  });
});
