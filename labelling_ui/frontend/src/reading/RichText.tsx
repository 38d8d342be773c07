import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useEffect, useMemo, useState } from "preact/hooks";
import { text as words } from "../text";
import { formula, katexLoaded } from "./formulas";
import { parse, type Block, type Inline } from "./parse";

const FOLD_CHARS = 6_000;
const FOLD_LINES = 16;
// A browser may break a line between a formula and the full stop after it, unless these are joined.
const JOINER = "\u2060";

/** A text from a file, typeset. Nothing in it is taken as HTML; formulas come from KaTeX, which escapes them. */
export const RichText = memo(function RichText({ text }: { text: string }) {
  useKatex();
  const [open, setOpen] = useState(false);
  const fold = !open && text.length > FOLD_CHARS;
  const blocks = useMemo(() => parse(fold ? text.slice(0, FOLD_CHARS) : text), [text, fold]);
  return (
    <div class="rich" dir="auto">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
      {fold && <Unfold onClick={() => setOpen(true)} label={words.reading.showRest(text.length - FOLD_CHARS)} />}
    </div>
  );
});

/** Output of a tool, or a change to a file: as it is, long ones folded, changed lines marked. */
export const Monospace = memo(function Monospace({ text, diff = false }: { text: string; diff?: boolean }) {
  const [open, setOpen] = useState(false);
  const lines = text.replace(/\n$/, "").split("\n");
  const fold = !open && (lines.length > FOLD_LINES * 1.5 || text.length > FOLD_CHARS);
  const shown = fold ? lines.slice(0, FOLD_LINES).map((line) => line.slice(0, FOLD_CHARS)) : lines;
  return (
    <div class="mono">
      <pre tabIndex={-1}>{diff ? shown.map((line, index) => <DiffLine key={index} line={line} />) : shown.join("\n")}</pre>
      {fold && <Unfold onClick={() => setOpen(true)} label={words.reading.showLines(lines.length)} />}
    </div>
  );
});

function DiffLine({ line }: { line: string }) {
  const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
  return <span class={`diff ${kind}`}>{`${line}\n`}</span>;
}

function Unfold({ onClick, label }: { onClick: () => void; label: string }) {
  return (
    <button type="button" class="link" onClick={onClick}>
      {label}
    </button>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.type) {
    case "paragraph":
      return <p>{inlineViews(block.inlines)}</p>;
    case "heading":
      return <p class="heading">{inlineViews(block.inlines)}</p>;
    case "math":
      return <Formula tex={block.tex} source={block.source} display />;
    case "code":
      return (
        <figure class="code">
          {block.language && <figcaption>{block.language}</figcaption>}
          <Monospace text={block.text} diff={block.language === "diff"} />
        </figure>
      );
    case "list":
      return (
        <ul class="list">
          {block.items.map((item, index) => (
            <li key={index}>
              <span class="marker">{item.marker}</span>
              <span>{inlineViews(item.inlines)}</span>
            </li>
          ))}
        </ul>
      );
  }
}

function inlineViews(inlines: Inline[]): ComponentChildren {
  return inlines.map((inline, index) => {
    switch (inline.type) {
      case "text":
        return inlines[index - 1]?.type === "math" && /^[.,;:!?)\]%'’”-]/.test(inline.text)
          ? JOINER + inline.text
          : inline.text;
      case "strong":
        return <strong key={index}>{inline.text}</strong>;
      case "code":
        return <code key={index}>{inline.text}</code>;
      case "math":
        return <Formula key={index} tex={inline.tex} source={inline.source} />;
    }
  });
}

function Formula({ tex, source, display = false }: { tex: string; source: string; display?: boolean }) {
  const html = formula(tex, display);
  const Tag = display ? "div" : "span";
  if (html) return <Tag class={display ? "formula display" : "formula"} dangerouslySetInnerHTML={{ __html: html }} />;
  const broken = html === null;
  return (
    <code class={display ? "source display" : "source"} title={broken ? words.reading.brokenFormula : undefined}>
      {source}
    </code>
  );
}

/** Draws again when KaTeX has come. */
function useKatex(): void {
  const [, setLoaded] = useState(false);
  useEffect(() => {
    let here = true;
    void katexLoaded.then(() => here && setLoaded(true));
    return () => {
      here = false;
    };
  }, []);
}
