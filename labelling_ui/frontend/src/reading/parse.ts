/** A piece of a line of text. */
export type Inline =
  | { type: "text"; text: string }
  | { type: "strong"; text: string }
  | { type: "code"; text: string }
  | { type: "math"; tex: string; source: string };

/** A piece of a text that stands by itself. `source` of maths is what is shown when it cannot be typeset. */
export type Block =
  | { type: "paragraph"; inlines: Inline[] }
  | { type: "heading"; inlines: Inline[] }
  | { type: "list"; items: { marker: string; inlines: Inline[] }[] }
  | { type: "math"; tex: string; source: string }
  | { type: "code"; language: string; text: string };

// Drawing code of competition problems; there is nothing here that draws it, so it is shown as code.
const ASYMPTOTE = /^\[asy\]([\s\S]*?)\[\/asy\]/;
const FENCE = /^(`{3,}|~{3,})([^\n`]*)\n([\s\S]*?)(?:\n\1[^\S\n]*(?=\n|$)|$)/;
const ENVIRONMENT = /^\\begin\{([a-zA-Z]+\*?)\}[\s\S]*?\\end\{\1\}/;
const DISPLAY = [/^\$\$([\s\S]+?)\$\$/, /^\\\[([\s\S]+?)\\\]/];
// As in Pandoc: no space inside the dollars and no digit after the closing one, so that prices stay prices.
const DOLLARS = /^\$(?![\s$])((?:\\[\s\S]|[^$\\])*?(?:\\[\s\S]|[^\s$\\]))\$(?!\d)/;
const PARENTHESES = /^\\\(([\s\S]+?)\\\)/;
const CODE = /^`([^`\n]+)`/;
const STRONG = /^\*\*(?=\S)([^*\n]+?)\*\*/;

/** Splits a text that a model or a person wrote into blocks. Never throws; what is not understood stays text. */
export function parse(text: string): Block[] {
  const blocks: Block[] = [];
  let line = "";
  const flush = () => {
    for (const paragraph of line.split(/\n[^\S\n]*\n/)) blocks.push(...toParagraphs(paragraph));
    line = "";
  };
  let rest = text.replace(/\r\n?/g, "\n");
  while (rest) {
    const atLineStart = line === "" || line.endsWith("\n");
    const found = blockAt(rest, atLineStart);
    if (found) {
      flush();
      blocks.push(found.block);
      rest = rest.slice(found.length);
      continue;
    }
    const length = plainLength(rest);
    line += rest.slice(0, length);
    rest = rest.slice(length);
  }
  flush();
  return blocks;
}

/** The formulas of a text, each with whether it stands by itself. */
export function formulasOf(blocks: Block[]): { tex: string; display: boolean }[] {
  const inLine = (inlines: Inline[]) =>
    inlines.flatMap((inline) => (inline.type === "math" ? [{ tex: inline.tex, display: false }] : []));
  return blocks.flatMap((block) => {
    switch (block.type) {
      case "math":
        return [{ tex: block.tex, display: true }];
      case "code":
        return [];
      case "list":
        return block.items.flatMap((item) => inLine(item.inlines));
      default:
        return inLine(block.inlines);
    }
  });
}

function blockAt(rest: string, atLineStart: boolean): { block: Block; length: number } | null {
  const fence = atLineStart ? FENCE.exec(rest) : null;
  if (fence) {
    return { block: { type: "code", language: fence[2]!.trim(), text: fence[3]! }, length: fence[0].length };
  }
  const asy = ASYMPTOTE.exec(rest);
  if (asy) return { block: { type: "code", language: "asymptote", text: asy[1]!.trim() }, length: asy[0].length };
  for (const pattern of DISPLAY) {
    const match = pattern.exec(rest);
    if (match?.[1]?.trim()) {
      return { block: { type: "math", tex: match[1], source: match[0] }, length: match[0].length };
    }
  }
  const environment = ENVIRONMENT.exec(rest);
  if (environment) {
    const source = environment[0];
    return { block: { type: "math", tex: source, source }, length: source.length };
  }
  return null;
}

/** How much of `rest` can be passed over before a block could begin: inline pieces as one, else up to the next sign. */
function plainLength(rest: string): number {
  const inline = inlineAt(rest);
  if (inline) return inline.length;
  if (rest.startsWith("\n")) return 1;
  const next = rest.slice(1).search(/[\\$`\n~[*]/);
  return next < 0 ? rest.length : next + 1;
}

const HEADING = /^#{1,6}[^\S\n]+(.+)$/;
const ITEM = /^[^\S\n]*([-*•]|\d{1,3}[.)])[^\S\n]+(.+)$/;

/** Lines of one paragraph, with headings and list items taken out of it. A list keeps its markers as written. */
function toParagraphs(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  const flush = () => {
    const paragraph = lines.join("\n").trim();
    if (paragraph) blocks.push({ type: "paragraph", inlines: parseInline(paragraph) });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const heading = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (!heading && !item) {
      lines.push(line);
      continue;
    }
    flush();
    if (heading) blocks.push({ type: "heading", inlines: parseInline(heading[1]!) });
    if (!item) continue;
    const entry = { marker: item[1]!, inlines: parseInline(item[2]!) };
    const last = blocks.at(-1);
    if (last?.type === "list") last.items.push(entry);
    else blocks.push({ type: "list", items: [entry] });
  }
  flush();
  return blocks;
}

export function parseInline(text: string): Inline[] {
  const inlines: Inline[] = [];
  let plain = "";
  const flush = () => {
    if (plain) inlines.push({ type: "text", text: plain });
    plain = "";
  };
  let rest = text;
  while (rest) {
    const found = inlineAt(rest);
    if (found) {
      flush();
      inlines.push(found.inline);
      rest = rest.slice(found.length);
    } else if (/^\\[$%#&_]/.test(rest)) {
      plain += rest[1]!;
      rest = rest.slice(2);
    } else {
      const next = rest.slice(1).search(/[\\$`*]/);
      const length = next < 0 ? rest.length : next + 1;
      plain += rest.slice(0, length);
      rest = rest.slice(length);
    }
  }
  flush();
  return inlines;
}

function inlineAt(rest: string): { inline: Inline; length: number } | null {
  switch (rest[0]) {
    case "`": {
      const code = CODE.exec(rest);
      return code && { inline: { type: "code", text: code[1]! }, length: code[0].length };
    }
    case "*": {
      const strong = STRONG.exec(rest);
      return strong && { inline: { type: "strong", text: strong[1]! }, length: strong[0].length };
    }
    case "$": {
      const math = DOLLARS.exec(rest);
      return math && { inline: { type: "math", tex: math[1]!, source: math[0] }, length: math[0].length };
    }
    case "\\": {
      const math = PARENTHESES.exec(rest);
      if (math) return { inline: { type: "math", tex: math[1]!, source: math[0] }, length: math[0].length };
      const source = boxedAt(rest);
      return source ? { inline: { type: "math", tex: source, source }, length: source.length } : null;
    }
    default:
      return null;
  }
}

/** `\boxed{…}` outside of any dollars, with its braces balanced. */
function boxedAt(rest: string): string | null {
  if (!rest.startsWith("\\boxed{")) return null;
  let depth = 0;
  for (let i = 6; i < rest.length; i += 1) {
    if (rest[i] === "\\") i += 1;
    else if (rest[i] === "{") depth += 1;
    else if (rest[i] === "}" && --depth === 0) return rest.slice(0, i + 1);
  }
  return null;
}
