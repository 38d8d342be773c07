import katex from "katex";
import "katex/dist/katex.min.css";

/**
 * HTML of a formula, or null if KaTeX cannot parse it. Models do not mean `%` as a comment: it would hide the rest.
 * They do not always escape `$` or `#` either: if a formula fails, these are escaped.
 */
export function typeset(tex: string, display: boolean): string | null {
  const meant = Object.entries(SAME).reduce((said, [here, there]) => said.replaceAll(here, there), tex);
  const shown = meant.replace(UNESCAPED_PERCENT, "\\%");
  return render(shown, display) ?? render(shown.replace(UNESCAPED_SIGN, "\\$&"), display);
}

const UNESCAPED_PERCENT = /(?<!\\)%/g;
const UNESCAPED_SIGN = /(?<!\\)[$#]/g;

/** Environments that KaTeX lacks, with similar ones that it has. */
const SAME: Record<string, string> = {
  "{tabular}": "{array}",
  "{multline": "{gather",
  "{eqnarray}": "{align}",
  "{eqnarray*}": "{align*}",
};

/** A formula with a command that could load or link to anything is rejected: KaTeX would only omit the command. */
function refuse(): never {
  throw new Error("not trusted");
}

/** Null if it cannot be rendered; the limits stop formulas made to hang the page. */
function render(tex: string, display: boolean): string | null {
  try {
    return katex.renderToString(tex, {
      displayMode: display,
      throwOnError: true,
      trust: refuse,
      strict: "ignore",
      maxSize: 20,
      maxExpand: 500,
      macros: { "\\mbox": "\\text{#1}" },
    });
  } catch {
    return null;
  }
}
