import { describe, expect, it } from "vitest";
import { answerText } from "../../src/ui/Problem";

describe("a reference answer", () => {
  it.each(["40,\\!000", "\\frac{1}{2}", "x^2"])("that is bare LaTeX is a formula: %s", (answer) => {
    expect(answerText(answer)).toBe(`$${answer}$`);
  });

  it.each(["14", "$x^2$", "\\(x^2\\)", "the _", "C:\\"])("stays as it is otherwise: %s", (answer) => {
    expect(answerText(answer)).toBe(answer);
  });
});
