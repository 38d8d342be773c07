import ts from "typescript";
import { expect, it } from "vitest";

const COMPONENTS = import.meta.glob<string>("../../src/**/*.tsx", { query: "?raw", import: "default", eager: true });
const READ_OUT = ["title", "aria-label", "placeholder", "alt"];

/** Words that a component renders and no catalogue has. */
function wordsIn(code: string): string[] {
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    const drawn = (ts.isJsxText(node) && !isKey(node)) || (ts.isStringLiteral(node) && isDrawn(node));
    if (drawn && /\p{L}{2}/u.test(node.text)) found.push(node.text.trim());
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile("a.tsx", code, ts.ScriptTarget.Latest, true));
  return found;
}

/** Keys are named as on the keyboard. */
function isKey({ parent }: ts.JsxText): boolean {
  return ts.isJsxElement(parent) && parent.openingElement.tagName.getText() === "kbd";
}

/** Whether people read the words or hear them; names of classes and the like are neither. */
function isDrawn(node: ts.StringLiteral): boolean {
  let at: ts.Node = node;
  while (ts.isConditionalExpression(at.parent) && at !== at.parent.condition) at = at.parent;
  const around = ts.isJsxExpression(at.parent) ? at.parent.parent : at.parent;
  if (ts.isJsxAttribute(around)) return READ_OUT.includes(around.name.getText());
  return ts.isJsxElement(around) || ts.isJsxFragment(around);
}

it("finds words where they are drawn", () => {
  expect(wordsIn('<p title="Here" class="no">Said {yes ? "so" : text.no} <kbd>Enter</kbd></p>')).toEqual(["Here", "Said", "so"]);
});

it("finds none in any component", () => {
  const said = Object.entries(COMPONENTS).map(([name, code]) => [name, wordsIn(code)]);
  expect(said.length).toBeGreaterThan(20);
  expect(said.filter(([, words]) => words!.length > 0)).toEqual([]);
});
