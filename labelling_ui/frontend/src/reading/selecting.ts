import { offsetsOf, rangeOf, type Place } from "./places";
import { textElement } from "./StepBody";

/** The selection as a place in the text of one step. */
export interface Selected {
  step: number;
  place: Place;
}

/**
 * The selected place in a step's text; null without a selection. In a selection over several steps, the first counts.
 */
export function selectedText(): Selected | null {
  const selection = getSelection();
  if (!selection || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const root = rootAt(range.startContainer) ?? rootAt(range.endContainer);
  const place = root && offsetsOf(root, range);
  return place ? { step: Number(root.dataset.textOf), place } : null;
}

export function selectNothing(): void {
  getSelection()?.removeAllRanges();
}

/**
 * Selects the next (`by` 1) or previous (-1) word of a step's text, or with `extend` moves the end of the selection by
 * one word; the first word without a selection. A formula is one word. Returns the selection.
 */
export function selectWord(step: number, text: string, by: number, extend: boolean): Place | null {
  const root = textElement(step);
  if (!root) return null;
  const now = selectedText();
  const here = now?.step === step ? now.place : null;
  const wanted = here ? moved(new Words(root, text), here, by, extend) : new Words(root, text).after(0);
  const range = wanted && rangeOf(root, wanted);
  if (!range) return here;
  selectNothing();
  getSelection()?.addRange(range);
  return wanted;
}

function moved(words: Words, here: Place, by: number, extend: boolean): Place | null {
  if (!extend) return by > 0 ? words.after(here.to) : words.before(here.from);
  if (by > 0) {
    const next = words.after(here.to);
    return next && { from: here.from, to: next.to };
  }
  const last = words.before(here.to);
  const previous = last && words.before(last.from);
  return previous && previous.from >= here.from ? { from: here.from, to: previous.to } : null;
}

/** The words of a rendered text, without marks of formatting. */
class Words {
  constructor(
    private readonly root: HTMLElement,
    private readonly text: string,
  ) {}

  after(offset: number): Place | null {
    for (const { index, 0: word } of this.text.slice(offset).matchAll(/\S+/g)) {
      const drawn = this.drawn(offset + index, offset + index + word.length);
      if (drawn && drawn.from >= offset) return drawn;
    }
    return null;
  }

  before(offset: number): Place | null {
    let rest = this.text.slice(0, offset).trimEnd();
    while (rest) {
      const start = rest.search(/\S+$/);
      const drawn = this.drawn(start, rest.length);
      if (drawn && drawn.from < offset) return drawn;
      rest = rest.slice(0, start).trimEnd();
    }
    return null;
  }

  private drawn(from: number, to: number): Place | null {
    const range = rangeOf(this.root, { from, to });
    return range && offsetsOf(this.root, range);
  }
}

function rootAt(node: Node): HTMLElement | null {
  const element = node instanceof Element ? node : node.parentElement;
  return element?.closest<HTMLElement>("[data-text-of]") ?? null;
}
