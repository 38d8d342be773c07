import { type ComponentChildren, Fragment } from "preact";
import { memo } from "preact/compat";
import { useEffect, useMemo, useState } from "preact/hooks";
import { text as words } from "../text";
import { type Block, parse } from "./blocks";
import { Code, Unfold, useUnfolded } from "./Code";
import { Drawn } from "./Drawn";
import { formula, requestFormula } from "./formulas";
import { imagesIn, isImage } from "./images";
import type { Inline } from "./inlines";
import type { Formula } from "./maths";
import { useNotifyDrawn } from "./near";

// Keeps these signs on the line of the formula before them. Long formulas may still break inside.
const CLOSING = /^[.,;:!?)\]%'’”-]+/;
const LONGEST_JOINED = 40;
const LONGEST_ADDRESS = 60;

/** A typeset text from a file. Nothing in it is taken as HTML; formulas come from KaTeX, which escapes them. */
export const RichText = memo(function RichText({ text, unfoldTo = 0 }: { text: string; unfoldTo?: number }) {
  const end = foldAt(text);
  const [open, unfold] = useUnfolded(unfoldTo > end);
  const fold = !open && end < text.length;
  const blocks = useMemo(() => parse(fold ? text.slice(0, end) : text), [text, fold]);
  return (
    <div class="rich" dir="auto" data-open={open || undefined}>
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} unfoldTo={unfoldTo} />
      ))}
      {fold && <Unfold onClick={unfold} label={words.reading.showRest(text.length - end)} />}
    </div>
  );
});

function BlockView({ block, unfoldTo }: { block: Block; unfoldTo: number }) {
  switch (block.type) {
    case "paragraph":
      return <p class={block.flows ? "flows" : undefined} style={insetBy(block.depth)}>{inlineViews(block.inlines)}</p>;
    case "heading":
      return <p class="heading">{inlineViews(block.inlines)}</p>;
    case "code":
      return <Code lines={block.lines} language={block.language?.text.toLowerCase()} caption={block.language} unfoldTo={unfoldTo} />;
    case "rule":
      return <hr />;
    case "list":
      return (
        <ul class="list">
          {block.items.map((item, index) => (
            <li key={index} style={insetBy(item.depth)}>
              <Drawn class="marker" {...item.marker} />
              <span class={item.flows ? "flows" : undefined}>{inlineViews(item.inlines)}</span>
            </li>
          ))}
        </ul>
      );
    case "table":
      return <TableView {...block} />;
  }
}

function insetBy(depth: number): string | undefined {
  return depth > 0 ? `margin-inline-start: ${Math.min(depth, 6) * 1.6}em` : undefined;
}

function TableView({ rows: [head, ...rows], align }: Extract<Block, { type: "table" }>) {
  const cells = (row: Inline[][], Cell: "th" | "td") =>
    row.map((cell, index) => (
      <Cell key={index} scope={Cell === "th" ? "col" : undefined} style={`text-align: ${align[index] ?? "start"}`}>
        {inlineViews(cell)}
      </Cell>
    ));
  return (
    <div class="grid">
      <table>
        <thead>
          <tr>{cells(head!, "th")}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const EMPHASIS = { strong: "strong", emphasis: "em", deleted: "del" } as const;

function inlineViews(inlines: Inline[]): ComponentChildren {
  return inlines.map((inline, index) => {
    switch (inline.type) {
      case "text": {
        const { length } = closingAfter(inlines[index - 1], inline);
        const rest = { ...inline, text: inline.text.slice(length), from: inline.from + length };
        return rest.text && <Drawn key={index} {...rest} />;
      }
      case "code":
        return (
          <code key={index}>
            <Drawn {...inline} />
          </code>
        );
      case "math": {
        const next = inlines[index + 1];
        const closing = closingAfter(inline, next);
        if (next?.type !== "text" || !closing) return <FormulaView key={index} {...inline} />;
        return (
          <span key={index} class="joined">
            <FormulaView {...inline} />
            <Drawn text={closing} from={next.from} />
          </span>
        );
      }
      case "link":
        return (
          <Fragment key={index}>
            <span class="linked">{inlineViews(inline.inlines)}</span> <AddressView {...inline.address} />
          </Fragment>
        );
      case "image":
        return <ImageView key={index} {...inline} />;
      default: {
        const Tag = EMPHASIS[inline.type];
        return <Tag key={index}>{inlineViews(inline.inlines)}</Tag>;
      }
    }
  });
}

/** The beginning of `next` that may not be separated from the formula before it. */
function closingAfter(inline: Inline | undefined, next: Inline | undefined): string {
  if (inline?.type !== "math" || inline.display || inline.tex.length > LONGEST_JOINED || next?.type !== "text" || next.skips) return "";
  return CLOSING.exec(next.text)?.[0] ?? "";
}

function FormulaView({ tex, source, display, from, to }: Formula) {
  const atOnce = useMemo(() => formula(tex, display), [tex, display]);
  const [later, setLater] = useState<{ of: string; html: string | null } | null>(null);
  const html = atOnce === undefined && later?.of === tex ? later.html : atOnce;
  useEffect(() => {
    if (atOnce === undefined) return requestFormula(tex, display, (html) => setLater({ of: tex, html }));
  }, [atOnce, tex, display]);
  useNotifyDrawn(html !== undefined);
  const name = `${html ? "formula" : "source"}${display ? " display" : ""}`;
  const place = { "data-from": from, "data-to": to };
  if (html) return <span class={name} dir="ltr" {...place} dangerouslySetInnerHTML={{ __html: html }} />;
  return (
    <code class={name} dir="ltr" title={html === null ? words.reading.brokenFormula : undefined}>
      <Drawn text={source} from={from} />
    </code>
  );
}

/** The address of a link is shown but not linked: nothing from a file is ever loaded. */
function AddressView({ text, from }: { text: string; from: number }) {
  const shown = text.length > LONGEST_ADDRESS ? `${text.slice(0, LONGEST_ADDRESS)}…` : text;
  return (
    <span class="address" title={text} data-from={from} data-to={from + text.length}>
      ({shown})
    </span>
  );
}

/** An image embedded as data is shown; one from elsewhere is only named. */
function ImageView({ alt, address }: Extract<Inline, { type: "image" }>) {
  const place = { "data-from": alt.from, "data-to": address.from + address.text.length };
  if (isImage(address.text)) {
    return <img class="picture" src={address.text} alt={alt.text || words.reading.image} {...place} />;
  }
  return (
    <>
      {words.reading.imageElsewhere} <Drawn class="linked" {...alt} /> <AddressView {...address} />
    </>
  );
}

const FOLD_CHARS = 6_000;

/** Where a long text is folded: after a paragraph or line that ends shortly before the limit, never inside an image. */
export function foldAt(text: string): number {
  const images = imagesIn(text);
  const shown = images.reduce((length, { from, to }) => length - (to - from), text.length);
  if (shown <= FOLD_CHARS * 1.25) return text.length;
  const edges = ["\n\n", "\n", " "].map((edge) => text.lastIndexOf(edge, FOLD_CHARS));
  const cut = edges.find((edge) => edge > FOLD_CHARS / 2) ?? FOLD_CHARS;
  return images.find(({ from, to }) => from < cut && cut < to)?.to ?? cut;
}
