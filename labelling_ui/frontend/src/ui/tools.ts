import type { RefObject } from "preact";
import { useMemo, useState } from "preact/hooks";

/** What stands open beside the steps: prompts, boxes and notes, each for the solution on the page alone. */
interface Open {
  skipping: boolean;
  searching: boolean;
  goingTo: boolean;
  /** The step whose comment is written, null for none. */
  commenting: number | null;
  referenceFlipped: boolean;
}

export interface Tools extends Open {
  set: (part: Partial<Open>) => void;
  closeAll: () => void;
  /** Opens or closes the comment of a step, and moves the keyboard with it. */
  comment: (step: number | null) => void;
}

const CLOSED: Open = { skipping: false, searching: false, goingTo: false, commenting: null, referenceFlipped: false };

/** What is open; the functions stay the same ones. */
export function useTools(focusNext: RefObject<string | null>): Tools {
  const [open, setOpen] = useState(CLOSED);
  const hands = useMemo(() => {
    const set = (part: Partial<Open>) => setOpen((before) => (changes(before, part) ? { ...before, ...part } : before));
    const comment = (step: number | null) => {
      set({ commenting: step });
      focusNext.current = step === null ? "current" : `#comment-${step}`;
    };
    return { set, comment, closeAll: () => set(CLOSED) };
  }, [focusNext]);
  return { ...open, ...hands };
}

/** A part that changes nothing must not draw the page again: it comes with every key. */
function changes(before: Open, part: Partial<Open>): boolean {
  return (Object.keys(part) as (keyof Open)[]).some((name) => part[name] !== before[name]);
}
