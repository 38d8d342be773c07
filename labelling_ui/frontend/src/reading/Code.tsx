import { useEffect, useMemo, useState } from "preact/hooks";
import { text as words } from "../text";
import { type Line, unifiedDiff } from "./diffs";
import { Drawn, placeOf } from "./Drawn";
import { type Leaf, sourceOffset } from "./source";

const SHOWN_ROWS = 16;
const ROW_CHARS = 80;
const WRAP_FROM = 400;
const DIFFS = ["diff", "patch"];

interface Props {
  lines: readonly Line[];
  /** Empty if unknown. */
  language?: string;
  /** The language as named by the fence, to be shown. */
  caption?: Leaf | null;
  /** Text up to this offset of the source must be visible. */
  unfoldTo?: number;
  /** Wraps long lines, as in prose. */
  wrap?: boolean;
}

/**
 * Code or a program's output: line by line, long parts folded, changed lines marked, highlighted if the language is
 * known.
 */
export function Code({ lines, language = "", caption = null, unfoldTo = 0, wrap }: Props) {
  const start = useMemo(() => beginningOf(lines), [lines]);
  const end = start ? endOf(start.at(-1)!) : Infinity;
  const [open, unfold] = useUnfolded(unfoldTo > end && unfoldTo <= endOf(lines.at(-1)!));
  const fold = !open && start !== null;
  const shown = useMemo(() => {
    const visible = fold ? start : lines;
    return DIFFS.includes(language) ? unifiedDiff(visible) : visible;
  }, [lines, start, fold, language]);
  return (
    <figure class="code" dir="ltr" data-open={open || undefined}>
      {caption && (
        <figcaption>
          <Drawn {...caption} />
        </figcaption>
      )}
      <Lines lines={shown} language={language} wrap={wrap ?? shown.some((line) => line.text.length > WRAP_FROM)} />
      {fold && <Unfold onClick={unfold} label={restOf(lines)} />}
    </figure>
  );
}

/** Whether a long text is shown whole: because a hidden part was `sought`, or the person unfolded it. */
export function useUnfolded(sought: boolean): [boolean, () => void] {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (sought) setOpen(true);
  }, [sought]);
  return [open || sought, () => setOpen(true)];
}

/** The button that shows the rest of a long text. */
export function Unfold({ onClick, label }: { onClick: () => void; label: string }) {
  return (
    <button type="button" class="link unfold" onClick={onClick}>
      {label}
    </button>
  );
}

function endOf(line: Line): number {
  return sourceOffset(line, line.text.length);
}

function restOf(lines: readonly Line[]): string {
  if (lines.length > SHOWN_ROWS) return words.reading.showLines(lines.length);
  return words.reading.showAll(lines.reduce((sum, line) => sum + line.text.length, 0));
}

/** The visible part of a long text, its last line cut if that alone is too long; null if all is visible. */
function beginningOf(lines: readonly Line[]): Line[] | null {
  const rows = lines.map(rowsOf);
  if (rows.reduce((sum, count) => sum + count, 0) <= SHOWN_ROWS * 1.5) return null;
  let left = SHOWN_ROWS;
  const start: Line[] = [];
  for (const [index, line] of lines.entries()) {
    if (left <= 0) break;
    start.push(rows[index]! <= left ? line : { ...line, text: line.text.slice(0, left * ROW_CHARS) });
    left -= rows[index]!;
  }
  return start;
}

/** The approximate height of a line: long ones wrap. */
function rowsOf({ text }: Line): number {
  const breaks = text.split("\n").length - 1;
  return Math.max(1, breaks, text.length > WRAP_FROM ? Math.ceil(text.length / ROW_CHARS) : 1);
}

function Lines({ lines, language, wrap }: { lines: readonly Line[]; language: string; wrap: boolean }) {
  const plain = !lines.some((line) => line.change);
  const html = useHighlighted(plain ? language : "", () => lines.map((line) => line.text).join("\n"));
  return (
    <pre class={wrap ? "wrapped" : ""} tabIndex={-1}>
      <code>
        {lines.map((line, index) => (
          <span key={index} class={`line ${line.change ?? ""}`} style={line.depth ? `--depth: ${line.depth}` : undefined}>
            {line.sign && <span class="sign-of-change">{line.sign}</span>}
            {html ? (
              <span {...placeOf(line)} dangerouslySetInnerHTML={{ __html: html[index]! }} />
            ) : (
              <Drawn {...line} />
            )}
            {"\n"}
          </span>
        ))}
      </code>
    </pre>
  );
}

type Highlighter = typeof import("./highlighter");
let highlighter: Highlighter | null = null;

/** Each line of the code as HTML; null without a known language, and until the highlighter's chunk has loaded. */
function useHighlighted(language: string, code: () => string): string[] | null {
  const [loaded, setLoaded] = useState(highlighter !== null);
  useEffect(() => {
    if (!language || loaded) return;
    const use = (module: Highlighter) => {
      highlighter = module;
      setLoaded(true);
    };
    import("./highlighter").then(use, () => undefined); // without it, the code is not highlighted
  }, [language, loaded]);
  return (language && highlighter?.highlight(code(), language)) || null;
}
