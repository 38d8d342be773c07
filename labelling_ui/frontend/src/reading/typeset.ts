import katex from "katex";
import "katex/dist/katex.min.css";

/**
 * HTML of a formula, or null where KaTeX does not understand it. `trust: false` refuses every command that
 * could load or link to anything; the expansion limit stops formulas made to hang the page.
 */
export function typeset(tex: string, display: boolean): string | null {
  try {
    return katex.renderToString(tex, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      strict: "ignore",
      maxSize: 20,
      maxExpand: 500,
    });
  } catch {
    return null;
  }
}
