import type { Source } from "./source";

/** A formula in a text. `tex` is typeset; `source` is shown if that fails. */
export interface Formula {
  readonly type: "math";
  readonly tex: string;
  readonly source: string;
  /** Displayed on its own, not in a line. */
  readonly display: boolean;
  readonly from: number;
  readonly to: number;
}

// As in Pandoc: no space inside the dollars and no digit after the closing one, so that prices are not formulas.
const DOLLARS = /\$(?![\s$])((?:\\[^]|[^$\\\n]|\n(?![^\S\n]*\n))*?(?:\\[^]|[^\s$\\]))\$(?!\d)/y;
// Models write such spaces all the same: then the part between the dollars has to look like mathematics.
const SPACED_DOLLARS = /(?<!\w)\$((?:\\[^]|[^$\\\n])+)\$(?!\w)/y;
const MATHEMATICS = /\\[a-zA-Z]|[_^]|^\s*[a-zA-Z]\s*$/;
const PROSE = /\\[([]|(?<![\\a-zA-Z])[a-zA-Z]{2,}\s[a-zA-Z]{2,}|\s[a-zA-Z]{2,}\s/;
const ENVIRONMENT =
  /\\begin\{((?:equation|align|alignat|aligned|alignedat|gather|gathered|multline|eqnarray|split|array|tabular|(?:[bpvBV]|small)?matrix|[dr]?cases)\*?)\}/y;
const DEEPEST_ENVIRONMENT = 20;
const LONGEST_IN_LINE = 2_000;
const LONGEST_GROUP = 600;

/** Commands that models write without delimiters, with their number of braced arguments. */
const BARE: Record<string, number> = {
  ...withArguments(1, "boxed fbox sqrt overline underline vec hat bar mathbb mathbf mathrm overrightarrow"),
  ...withArguments(2, "frac dfrac tfrac cfrac binom dbinom"),
  ...withArguments(
    0,
    "alpha beta gamma delta epsilon varepsilon zeta eta theta lambda mu nu xi pi rho sigma tau phi varphi chi psi omega " +
      "Gamma Delta Theta Lambda Sigma Phi Psi Omega infty times cdot div pm mp leq geq le ge neq ne approx equiv sim " +
      "cong propto in notin subset subseteq cup cap emptyset setminus forall exists implies iff therefore because to " +
      "rightarrow Rightarrow leftarrow Leftrightarrow mapsto angle triangle perp parallel circ degree ldots cdots " +
      "lceil rceil lfloor rfloor langle rangle sum prod int partial nabla ell",
  ),
};
const COMMAND = /\\([a-zA-Z]+)(?![a-zA-Z])/y;

function withArguments(count: number, names: string): Record<string, number> {
  return Object.fromEntries(names.split(" ").map((name) => [name, count]));
}

/** The formula that begins exactly at `at`; null if none does, or if it is empty or has no end. */
export function formulaAt(source: Source, at: number): Formula | null {
  const { text } = source;
  if (text[at] === "$") {
    if (text[at + 1] === "$") return between(source, at, "$$", "$$", true);
    const dollars = source.match(DOLLARS, at) ?? spacedDollars(source, at);
    return dollars && formula(source, at, at + dollars[0].length, dollars[1]!, false);
  }
  if (text[at] !== "\\") return null;
  if (text[at + 1] === "[") return between(source, at, "\\[", "\\]", true);
  if (text[at + 1] === "(") return between(source, at, "\\(", "\\)", false);
  return environmentAt(source, at) ?? bareAt(source, at);
}

function spacedDollars(source: Source, at: number): RegExpExecArray | null {
  const dollars = source.match(SPACED_DOLLARS, at);
  const tex = dollars?.[1]?.replace(/\\text\{[^{}]*\}/g, "") ?? "";
  return MATHEMATICS.test(tex) && !PROSE.test(tex) ? dollars : null;
}

function formula(source: Source, from: number, to: number, tex: string, display: boolean): Formula {
  return { type: "math", tex, source: source.text.slice(from, to), display, from, to };
}

function between(source: Source, at: number, open: string, close: string, display: boolean): Formula | null {
  const begin = at + open.length;
  const end = source.find(close, begin);
  if (end === Infinity) return null;
  if (!display && end - begin > LONGEST_IN_LINE) return null;
  const tex = source.text.slice(begin, end);
  if (!tex.trim() || (!display && /\n[^\S\n]*\n/.test(tex))) return null;
  return formula(source, at, end + close.length, tex, display);
}

function environmentAt(source: Source, at: number): Formula | null {
  const name = source.match(ENVIRONMENT, at)?.[1];
  if (!name) return null;
  const [open, close] = [`\\begin{${name}}`, `\\end{${name}}`];
  let end = at;
  let inner = at;
  for (let depth = 0; depth < DEEPEST_ENVIRONMENT; depth += 1) {
    const closing = source.find(close, end + 1);
    if (closing === Infinity) return null;
    end = closing;
    inner = source.find(open, inner + 1);
    if (inner > end) {
      const to = end + close.length;
      return formula(source, at, to, source.text.slice(at, to), true);
    }
  }
  return null;
}

function bareAt(source: Source, at: number): Formula | null {
  const command = source.match(COMMAND, at);
  if (!command || !Object.hasOwn(BARE, command[1]!)) return null;
  let to = at + command[0].length;
  if (command[1] === "sqrt" && source.text[to] === "[") to = groupEnd(source.text, to, "[", "]") ?? to;
  for (let left = BARE[command[1]!]!; left > 0; left -= 1) {
    const end = groupEnd(source.text, to, "{", "}");
    if (end === null) return null;
    to = end;
  }
  return formula(source, at, to, source.text.slice(at, to), false);
}

/** Where the braces that open at `at` close; null if they do not open, or never close. */
function groupEnd(text: string, at: number, open: string, close: string): number | null {
  if (text[at] !== open) return null;
  let depth = 0;
  for (let i = at; i < text.length && i < at + LONGEST_GROUP; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === open) depth += 1;
    else if (text[i] === close && --depth === 0) return i + 1;
  }
  return null;
}
