import type { RefObject } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Panel } from "./Header";

/** What is open beside the steps: prompts, fields and notes, for the current solution only. */
interface Open {
  skipping: boolean;
  searching: boolean;
  goingTo: boolean;
  /** The step whose comment is being written, null for none. */
  commenting: number | null;
  referenceFlipped: boolean;
}

export type Tools = ReturnType<typeof useTools>;

const CLOSED: Open = { skipping: false, searching: false, goingTo: false, commenting: null, referenceFlipped: false };

/** What is open; the functions stay the same ones. */
export function useTools(focusNext: RefObject<string | null>) {
  const [open, setOpen] = useState(CLOSED);
  const hands = useMemo(() => {
    const set = (part: Partial<Open>) => setOpen((before) => (changes(before, part) ? { ...before, ...part } : before));
    /** Opens or closes the comment of a step, and moves the focus. */
    const comment = (step: number | null) => {
      set({ commenting: step });
      focusNext.current = step === null ? "current" : `#comment-${step}`;
    };
    return { set, comment, closeAll: () => set(CLOSED) };
  }, [focusNext]);
  return { ...open, ...hands };
}

/** A part that changes nothing must not redraw the page, since it arrives with every key. */
function changes(before: Open, part: Partial<Open>): boolean {
  return (Object.keys(part) as (keyof Open)[]).some((name) => part[name] !== before[name]);
}

const WIDE = "(min-width: 1100px)";

export type SidePanels = ReturnType<typeof usePanel>;

/** The panel at the side; on a wide screen the guidelines are open at first. */
export function usePanel(focusNext: RefObject<string | null>, goBack: (from: Element) => void) {
  const [panel, setPanel] = useState<Panel | null>(() => (matchMedia(WIDE).matches ? "guidelines" : null));
  const close = () => {
    const open = document.querySelector("#panel");
    if (open?.contains(document.activeElement)) goBack(open);
    setPanel(null);
  };
  /** Opens a panel and focuses it, or closes it. */
  const turn = (name: Panel) => {
    if (panel === name) return close();
    focusNext.current = "#panel";
    setPanel(name);
  };
  /** Closes the panel if it covers the solution. */
  const uncover = () => {
    if (!matchMedia(WIDE).matches) setPanel(null);
  };
  return { panel, turn, close, uncover };
}
