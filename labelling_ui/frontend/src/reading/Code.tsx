import { useMemo, useState } from "preact/hooks";
import { text as words } from "../text";
import { unifiedDiff, type Change } from "./changes";
import { Drawn, placeOf } from "./Drawn";
import { coloured, highlighterFor } from "./highlighting";
import { useArrival } from "./loading";
import type { Leaf } from "./source";
import { Unfold } from "./Unfold";

const SHOWN_LINES = 16;
const SHOWN_CHARS = 4_000;
const WRAP_FROM = 400;
const DIFFS = ["diff", "patch"];

export interface Line extends Leaf {
  change?: Change;
  /** Stands before a changed line where its text does not begin with one. */
  sign?: "+" | "-" | " ";
  /** How deep it stands, where the layout is ours and not the text's. */
  depth?: number;
}

interface Props {
  lines: readonly Line[];
  /** Empty where nobody says. */
  language?: string;
  /** The language as a fence names it, to be shown. */
  caption?: Leaf | null;
  /** Text up to this offset of the source has to be seen. */
  unfoldTo?: number;
  /** Breaks long lines, as for prose. */
  wrap?: boolean;
}

/** Code, or what a program said: line by line, long ones folded, changed lines marked, coloured where the language is known. */
export function Code({ lines, language = "", caption = null, unfoldTo = 0, wrap }: Props) {
  const [open, setOpen] = useState(false);
  const end = foldAfter(lines);
  const fold = !open && end < lines.length && unfoldTo <= (lines[end]?.from ?? Infinity);
  const shown = useMemo(() => {
    const visible = fold ? lines.slice(0, end) : lines;
    return DIFFS.includes(language) ? unifiedDiff(visible) : visible;
  }, [lines, fold, language]);
  return (
    <figure class="code" dir="ltr">
      {caption && (
        <figcaption>
          <Drawn {...caption} />
        </figcaption>
      )}
      <Lines lines={shown} language={language} wrap={wrap ?? shown.some((line) => line.text.length > WRAP_FROM)} />
      {fold && <Unfold onClick={() => setOpen(true)} label={words.reading.showLines(lines.length)} />}
    </figure>
  );
}

/** How many lines are shown at first; all where there are only a few more. */
function foldAfter(lines: readonly Line[]): number {
  let chars = 0;
  for (const [index, line] of lines.entries()) {
    chars += line.text.length;
    if (chars > SHOWN_CHARS && index > 0) return index;
    if (index === SHOWN_LINES && lines.length > SHOWN_LINES * 1.5) return index;
  }
  return lines.length;
}

function Lines({ lines, language, wrap }: { lines: readonly Line[]; language: string; wrap: boolean }) {
  const plain = !lines.some((line) => line.change);
  useArrival(plain ? highlighterFor(language) : null);
  const html = plain ? coloured(lines.map((line) => line.text).join("\n"), language) : null;
  return (
    <pre class={wrap ? "wrapped" : ""} tabIndex={-1}>
      <code>
        {lines.map((line, index) => (
          <span key={index} class={`line ${line.change ?? ""}`} style={line.depth ? `--depth: ${line.depth}` : undefined}>
            {line.sign && <span class="sign-of-change">{line.sign}</span>}
            {html ? (
              <span {...placeOf(line)} dangerouslySetInnerHTML={{ __html: html[index]! }} />
            ) : (
              <Drawn {...line} class={undefined} />
            )}
            {"\n"}
          </span>
        ))}
      </code>
    </pre>
  );
}
