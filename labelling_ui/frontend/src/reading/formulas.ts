import { formulasOf, parse } from "./blocks";
import { whenIdle } from "./idle";

type Typeset = (tex: string, display: boolean) => string | null;
type Deliver = (html: string | null) => void;

/**
 * How long formulas may block the page: in a text with a thousand, the first are drawn at once and the others in
 * batches.
 */
const TURN_MS = 40;
const DRAWING_MS = 0.4; // the approximate layout cost of a formula
const MOST_KEPT = 4_000;

let typeset: Typeset | null = null;
const cache = new Map<string, string | null>();
let left = TURN_MS;
let renewal: ReturnType<typeof setTimeout> | null = null;

interface Request {
  tex: string;
  display: boolean;
  deliver: Deliver;
}
const requests = new Set<Request>();
let turn: (() => void) | null = null;

/** KaTeX is a chunk of its own: the page is usable before it has loaded. */
export const katexLoaded: Promise<void> = import("./typeset").then((module) => {
  typeset = module.typeset;
});

/** The formula's HTML; null if it is invalid; undefined while KaTeX loads, or if it would block the page. */
export function formula(tex: string, display: boolean): string | null | undefined {
  if (!typeset || left <= 0) return undefined;
  // The rest is for everything drawn at this moment.
  renewal ??= setTimeout(() => {
    renewal = null;
    left = TURN_MS;
  });
  return draw(tex, display);
}

/** Delivers a formula's HTML when there is time, in the order of requests; returns a function that cancels it. */
export function requestFormula(tex: string, display: boolean, deliver: Deliver): () => void {
  const request = { tex, display, deliver };
  requests.add(request);
  void katexLoaded.then(askForTurn, () => undefined);
  return () => requests.delete(request);
}

/** Typesets texts ahead of time, in batches so that typing is never blocked. */
export async function prepare(texts: string[]): Promise<void> {
  await katexLoaded;
  for (const text of texts) {
    await new Promise((resolve) => setTimeout(resolve));
    for (const { tex, display } of formulasOf(parse(text))) {
      if (formula(tex, display) === undefined) await new Promise<unknown>((resolve) => requestFormula(tex, display, resolve));
    }
  }
}

function draw(tex: string, display: boolean): string | null {
  const key = (display ? "D" : "I") + tex;
  const begun = performance.now();
  let html = cache.get(key);
  if (html === undefined) {
    html = typeset!(tex, display);
    if (cache.size >= MOST_KEPT) cache.clear();
    cache.set(key, html);
  }
  left -= DRAWING_MS + performance.now() - begun;
  return html;
}

function askForTurn(): void {
  if (requests.size > 0) turn ??= whenIdle(takeTurn);
}

function takeTurn(): void {
  turn = null;
  left = TURN_MS;
  for (const request of requests) {
    if (left <= 0) break;
    requests.delete(request);
    request.deliver(draw(request.tex, request.display));
  }
  askForTurn();
}
