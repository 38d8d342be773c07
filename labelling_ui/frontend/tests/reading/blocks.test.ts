import { describe, expect, it } from "vitest";
import { parse } from "../../src/reading/blocks";
import { blocksOf, inlinesOf, maths, said } from "./shape";

const code = (language: string | null, ...lines: string[]) => ({
  type: "code",
  language: language === null ? null : { text: language },
  lines: lines.map((text) => ({ text })),
});
const paragraph = (...inlines: unknown[]) => ({ type: "paragraph", depth: 0, inlines });

describe("code", () => {
  it("keeps its fence's language and its text untouched", () => {
    expect(blocksOf("Run\n```python\nprice = $5 * 2  # $x$\n```\ndone")).toEqual([
      paragraph(said("Run")),
      code("python", "price = $5 * 2  # $x$"),
      paragraph(said("done")),
    ]);
  });

  it("loses what its fence is set in by, and no more", () => {
    expect(blocksOf("1. Run\n   ```\n   if x:\n       y\n  z\n   ```")).toEqual([
      { type: "list", items: [{ marker: { text: "1." }, depth: 0, inlines: [said("Run")] }] },
      code(null, "if x:", "    y", "z"),
    ]);
  });

  it("may lack its closing fence, or hold a shorter one", () => {
    expect(blocksOf("```\nx = 1\n")).toEqual([code(null, "x = 1")]);
    expect(blocksOf("````\n```\n````")).toEqual([code(null, "```")]);
  });

  it("hides maths in a line too", () => {
    expect(inlinesOf("`$x$`")).toEqual([{ type: "code", text: "$x$" }]);
  });

  it("is how drawings are shown", () => {
    expect(blocksOf("[asy]draw((0,0)--(1,1));[/asy]")).toEqual([code("asy", "draw((0,0)--(1,1));")]);
  });

  it("is what a step set in by four is, as solutions given line by line have it", () => {
    expect(blocksOf("    # count them\n    for c in s:\n        n += 1\n")).toEqual([
      code(null, "    # count them", "    for c in s:", "        n += 1"),
    ]);
    expect(blocksOf("    so $x = 1$")).toMatchObject([{ type: "paragraph" }]);
  });
});

describe("text", () => {
  it("keeps headings, emphasis and paragraphs apart", () => {
    expect(blocksOf("## Step 1\nTake **two**, *then* ~~one~~.\n\nNext")).toEqual([
      { type: "heading", inlines: [said("Step 1")] },
      paragraph(
        said("Take "),
        { type: "strong", inlines: [said("two")] },
        said(", "),
        { type: "emphasis", inlines: [said("then")] },
        said(" "),
        { type: "deleted", inlines: [said("one")] },
        said("."),
      ),
      paragraph(said("Next")),
    ]);
  });

  it("keeps the markers of a list as written, and how deep its items stand", () => {
    expect(blocksOf("So:\n1. one\n   - inner\n2) two\nend")).toEqual([
      paragraph(said("So:")),
      {
        type: "list",
        items: [
          { marker: { text: "1." }, depth: 0, inlines: [said("one")] },
          { marker: { text: "-" }, depth: 1, inlines: [said("inner")] },
          { marker: { text: "2)" }, depth: 0, inlines: [said("two\nend")] },
        ],
      },
    ]);
  });

  it("reads tables, with bars in formulas", () => {
    expect(blocksOf("| n | $|x|$ |\n|--:|:-:|\n| 1 | `a|b` |\n| 2 |  |\n\nso")).toEqual([
      {
        type: "table",
        align: ["end", "center"],
        rows: [
          [[said("n")], [maths("|x|")]],
          [[said("1")], [{ type: "code", text: "a|b" }]],
          [[said("2")], []],
        ],
      },
      paragraph(said("so")),
    ]);
  });

  it("tells where links lead", () => {
    expect(inlinesOf("see [the **page**](https://example.org/a_(b)) and ![plot](data:image/png;base64,AAAA)")).toEqual([
      said("see "),
      {
        type: "link",
        inlines: [said("the "), { type: "strong", inlines: [said("page")] }],
        address: { text: "https://example.org/a_(b)" },
      },
      said(" and "),
      { type: "image", alt: { text: "plot" }, address: { text: "data:image/png;base64,AAAA" } },
    ]);
  });

  it.each([
    "3 * 4 ** 2 <b>&amp;</b>",
    "2*3*4 = 24",
    "2**3 + 4**2",
    "pi*r^2*h",
    "on [0,1](x) and f[1](2)",
    "a_1 + b_2 and snake_case_name",
    "> 4, ~5~ and ``word''",
    "x = 3! [sic]",
  ])("leaves as it is what only looks like markup: %s", (text) => {
    expect(inlinesOf(text)).toEqual([said(text)]);
  });

  it("takes a line of signs for a rule, and a count of things for no heading", () => {
    expect(blocksOf("a\n---\nb").map((block) => block.type)).toEqual(["paragraph", "rule", "paragraph"]);
    expect(blocksOf("# of apples = 5")).toEqual([paragraph(said("# of apples = 5"))]);
  });
});

describe("lines broken to fit a width", () => {
  const wide = "x".repeat(70);
  it.each([
    [`${wide}\n${wide}\nend`, true],
    [`${wide}\nshort\nend`, false],
    ["a = 1\nb = 2", false],
    [wide, false],
  ])("may flow again: %j", (text, flows) => {
    expect(parse(text)).toMatchObject([{ type: "paragraph", flows }]);
  });
});
