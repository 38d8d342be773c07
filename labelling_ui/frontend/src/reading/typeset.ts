import katex from "katex";
import "katex/dist/katex.min.css";

/**
 * HTML of a formula, or null where KaTeX does not understand it. Models often forget to escape `$` and `%`
 * inside of one: where it does not read as written, it is read with these escaped.
 */
export function typeset(tex: string, display: boolean): string | null {
  return render(tex, display) ?? render(tex.replace(/(?<!\\)[$%]/g, "\\$&"), display);
}

/** `trust: false` refuses every command that could load or link to anything; the limits stop formulas made to hang the page. */
function render(tex: string, display: boolean): string | null {
  try {
    return katex.renderToString(tex, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      strict: "ignore",
      maxSize: 20,
      maxExpand: 500,
      macros: { "\\mbox": "\\text{#1}" },
    });
  } catch {
    return null;
  }
}
