import { text } from "../text";
import { textElement } from "./StepBody";

/** Where the text of a step ends on the page. */
export function endOf(step: number): string {
  return `end-${step}`;
}

/** Tells of steps on the page that may come into view, and of those that no longer may; gives what ends it. */
type Follow = (near: (step: Element) => void, far: (step: Element) => void) => () => void;

const FEET = ".action-bar, .decision";
const HEAD = "#workbench .top"; // that of other pages scrolls away

/**
 * The steps of a solution whose end has stood on the screen, with nothing of them folded away. `now` takes up what
 * stands there at this moment, too: a key comes faster than the browser tells of what it shows.
 */
export class Sight {
  readonly seen = new Set<number>();
  private readonly inView = new Set<Element>();

  /** Notes what comes into view from here on, of the steps that `follow` tells of; gives what ends it. */
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

  /** Of `steps`, in reading order, what is on the screen counts as seen. */
  now(steps: readonly number[]): ReadonlySet<number> {
    this.note();
    const { top, bottom } = clearStretch();
    // At its first look a sheet shows no more than a screen of itself (ui/Sheets.tsx).
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

/** What of the window is not behind the head or the foot of the page. */
export function clearStretch(): { top: number; bottom: number } {
  const top = document.querySelector(HEAD)?.getBoundingClientRect().bottom ?? 0;
  const bottom = document.querySelector(FEET)?.getBoundingClientRect().top ?? innerHeight;
  return { top: Math.max(0, top), bottom: Math.min(innerHeight, bottom) };
}

/** Whether something of a step's text is folded away, or not drawn yet. */
function isFolded(step: number): boolean {
  return textElement(step)?.querySelector(".unfold, .far") != null;
}

/** What is said where a step was not seen to its end. `position` counts from 0. */
export function unseenNote(step: number, position: number): string {
  const { unfold, readOn } = text.accepting;
  return (isFolded(step) ? unfold : readOn)(position + 1);
}
