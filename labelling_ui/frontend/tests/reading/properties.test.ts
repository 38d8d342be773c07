import { describe, expect, it } from "vitest";
import { parse, type Block } from "../../src/reading/blocks";
import type { Inline } from "../../src/reading/inlines";
import { drawnOffset, type Leaf, sourceOffset } from "../../src/reading/source";
import { seeded } from "../sample";

const PIECES = [
  "a", "B2", " ", "\n", "\n\n", "    ", "$", "$$", "\\(", "\\)", "\\[", "\\]", "\\frac{", "{", "}", "\\boxed{1}", "\\pi", "\\$",
  "*", "**", "_", "~~", "`", "```", "```py\n", "#", "# C", "- ", "1. ", "|", "\n|--|--|\n", "[", "](", "](http://x.y)", ")", "![",
  "\\begin{align}", "\\end{align}", "[asy]", "[/asy]", "---", "\r\n", "<b>", "é", "𝑥", "\\",
];

type Span = { from: number; to: number };

const leaf = (one: Leaf): Span => ({ from: one.from, to: sourceOffset(one, one.text.length) });

function spansOf(inlines: Inline[]): Span[] {
  return inlines.flatMap((inline): Span[] => {
    switch (inline.type) {
      case "text":
      case "code":
        return [leaf(inline)];
      case "math":
        return [inline];
      case "image":
        return [leaf(inline.alt), leaf(inline.address)];
      case "link":
        return [...spansOf(inline.inlines), leaf(inline.address)];
      default:
        return spansOf(inline.inlines);
    }
  });
}

function spansIn(block: Block): Span[] {
  switch (block.type) {
    case "code":
      return [...(block.language ? [leaf(block.language)] : []), ...block.lines.map(leaf)];
    case "list":
      return block.items.flatMap((item) => [leaf(item.marker), ...spansOf(item.inlines)]);
    case "table":
      return block.rows.flatMap((row) => row.flatMap(spansOf));
    case "rule":
      return [];
    default:
      return spansOf(block.inlines);
  }
}

function randomText(seed: number): string {
  const random = seeded(seed);
  return Array.from({ length: 1 + Math.floor(random() * 40) }, () => PIECES[Math.floor(random() * PIECES.length)]).join("");
}

describe("any text at all", () => {
  it("loses no letter and no digit, and draws none twice", () => {
    for (let seed = 0; seed < 1_000; seed += 1) {
      const text = randomText(seed);
      const drawn = new Array<number>(text.length).fill(0);
      for (const { from, to } of parse(text).flatMap(spansIn)) for (let at = from; at < to; at += 1) drawn[at]! += 1;
      const wrong = [...drawn.keys()].filter((at) => drawn[at]! > 1 || (!drawn[at] && /[\p{L}\p{N}]/u.test(text[at]!)));
      const asides = [...text.matchAll(/\[\/?asy\]/g)].flatMap(({ index, 0: tag }) => [...tag].map((_, k) => index + k));
      expect(wrong.filter((at) => !asides.includes(at)), `seed ${seed}: ${JSON.stringify(text)}`).toEqual([]);
    }
  });

  it("gives each drawn text as it stands in the source", () => {
    for (let seed = 0; seed < 1_000; seed += 1) {
      const text = randomText(seed).replace(/\r/g, "");
      for (const block of parse(text)) {
        if (block.type !== "code") continue;
        for (const line of block.lines) expect(text.slice(line.from, line.from + line.text.length)).toBe(line.text);
      }
    }
  });
});

describe("places in a leaf", () => {
  it("go there and back", () => {
    const said: Leaf = { text: 'a"b\nc', from: 10, skips: [[2, 1], [4, 1]] };
    expect([0, 1, 2, 3, 4, 5].map((offset) => sourceOffset(said, offset))).toEqual([10, 11, 13, 14, 16, 17]);
    for (let offset = 0; offset <= 5; offset += 1) expect(drawnOffset(said, sourceOffset(said, offset))).toBe(offset);
    expect(drawnOffset(said, 12)).toBe(2);
  });
});
