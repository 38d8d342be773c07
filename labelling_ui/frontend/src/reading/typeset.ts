import katex from "katex";
import "katex/dist/katex.min.css";

/**
 * HTML of a formula, or null where KaTeX does not understand it. Models do not mean a comment by `%`: left as it is,
 * it would hide what comes after it. Nor do they always escape a `$` or a `#`: where it does not read as written, it is
 * read so.
 */
export function typeset(tex: string, display: boolean): string | null {
  const meant = Object.entries(SAME).reduce((said, [here, there]) => said.replaceAll(here, there), tex);
  const shown = meant.replace(UNESCAPED_PERCENT, "\\%");
  return render(shown, display) ?? render(shown.replace(UNESCAPED_SIGN, "\\$&"), display);
}

const UNESCAPED_PERCENT = /(?<!\\)%/g;
const UNESCAPED_SIGN = /(?<!\\)[$#]/g;

/** Environments that KaTeX lacks, and those of its own that look alike. */
const SAME: Record<string, string> = {
  "{tabular}": "{array}",
  "{multline": "{gather",
  "{eqnarray}": "{align}",
  "{eqnarray*}": "{align*}",
};

/** A formula with a command that could load or link to anything is none: KaTeX alone would leave out what it holds. */
function refuse(): never {
  throw new Error("not trusted");
}

/** Null where it cannot be shown; the limits stop formulas made to hang the page. */
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
