import { formulasOf, parse } from "./blocks";

type Typeset = (tex: string, display: boolean) => string | null;

let typeset: Typeset | null = null;
const done = new Map<string, string | null>();
const MOST_KEPT = 4_000;

/** KaTeX is a chunk of its own: the page is usable before it is there. */
export const katexLoaded: Promise<void> = import("./typeset").then((module) => {
  typeset = module.typeset;
});

/** The formula's HTML; null where it is broken; undefined while KaTeX is still on its way. */
export function formula(tex: string, display: boolean): string | null | undefined {
  if (!typeset) return undefined;
  const key = (display ? "D" : "I") + tex;
  let html = done.get(key);
  if (html === undefined) {
    html = typeset(tex, display);
    if (done.size >= MOST_KEPT) done.clear();
    done.set(key, html);
  }
  return html;
}

/** Typesets texts ahead of showing them, a text at a time so that typing is never held up. */
export async function prepare(texts: string[]): Promise<void> {
  await katexLoaded;
  for (const text of texts) {
    await new Promise((resolve) => setTimeout(resolve));
    for (const { tex, display } of formulasOf(parse(text))) formula(tex, display);
  }
}
