import { text } from "../text";
import { textElement } from "./StepBody";

/** The end of a step's text on the page. */
export function endOf(step: number): string {
  return `end-${step}`;
}

/** Reports steps that approach the screen and steps that leave it; returns a function that stops it. */
type Follow = (near: (step: Element) => void, far: (step: Element) => void) => () => void;

const FEET = ".action-bar, .decision";
const HEAD = "#workbench .top"; // of other pages, which scroll

/**
 * The steps of a solution whose end has been on the screen with nothing folded. `now` also records what is on the
 * screen at this moment, since a key can arrive before the browser's report.
 */
export class Sight {
  readonly seen = new Set<number>();
  private readonly inView = new Set<Element>();

  /** Records steps that come into view, of those that `follow` reports; returns a function that stops it. */
  watch(follow: Follow): () => void {
    const { top, bottom } = clearStretch();
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) this.inView[isIntersecting ? "add" : "delete"](target);
        this.note();
      },
      { rootMargin: `${-top}px 0px ${bottom - innerHeight}px` },
    );
    this.inView.clear();
    const stop = follow(
      (step) => observer.observe(endIn(step)),
      (step) => {
        observer.unobserve(endIn(step));
        this.inView.delete(endIn(step));
      },
    );
    return () => {
      stop();
      observer.disconnect();
    };
  }

  /** Records the steps on the screen as seen; `steps` are in reading order. */
  now(steps: readonly number[]): ReadonlySet<number> {
    this.note();
    const { top, bottom } = clearStretch();
    // At first a sheet shows only one screen of itself (ui/Sheets.tsx).
    const shownTo = Math.min(bottom, document.querySelector(".shown")?.getBoundingClientRect().bottom ?? bottom);
    for (const step of steps.filter((one) => !this.seen.has(one))) {
      const end = document.getElementById(endOf(step));
      const place = end?.checkVisibility() ? end.getBoundingClientRect().bottom : Infinity;
      if (place < top || place > shownTo || isFolded(step)) break;
      this.seen.add(step);
    }
    return new Set(this.seen);
  }

  private note(): void {
    for (const end of this.inView) {
      const step = Number(end.id.replace("end-", ""));
      if (!this.seen.has(step) && !isFolded(step)) this.seen.add(step);
    }
  }
}

export function endIn(step: Element): Element {
  return step.querySelector(".step-end")!;
}

/** The part of the window that is not behind the head or the foot of the page. */
export function clearStretch(): { top: number; bottom: number } {
  const top = document.querySelector(HEAD)?.getBoundingClientRect().bottom ?? 0;
  const bottom = document.querySelector(FEET)?.getBoundingClientRect().top ?? innerHeight;
  return { top: Math.max(0, top), bottom: Math.min(innerHeight, bottom) };
}

/** Whether some of a step's text is folded or not rendered yet. */
function isFolded(step: number): boolean {
  return textElement(step)?.querySelector(".unfold, .far") != null;
}

/** The message for a step that was not seen to its end. `position` counts from 0. */
export function unseenNote(step: number, position: number): string {
  const { unfold, readOn } = text.accepting;
  return (isFolded(step) ? unfold : readOn)(position + 1);
}
