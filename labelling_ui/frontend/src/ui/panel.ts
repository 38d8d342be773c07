import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import type { Panel } from "./Header";

const WIDE = "(min-width: 1100px)";

export interface SidePanels {
  panel: Panel | null;
  /** Opens a panel with the keyboard in it, or closes it. */
  turn: (panel: Panel) => void;
  close: () => void;
  /** Closes the panel where it covers the solution. */
  uncover: () => void;
}

/** The panel at the side; on a wide screen the guidelines are open at first. */
export function usePanel(focusNext: RefObject<string | null>, goBack: (from: Element) => void): SidePanels {
  const [panel, setPanel] = useState<Panel | null>(() => (matchMedia(WIDE).matches ? "guidelines" : null));
  const close = () => {
    const open = document.querySelector("#panel");
    if (open?.contains(document.activeElement)) goBack(open);
    setPanel(null);
  };
  const turn = (name: Panel) => {
    if (panel === name) return close();
    focusNext.current = "#panel";
    setPanel(name);
  };
  const uncover = () => {
    if (!matchMedia(WIDE).matches) setPanel(null);
  };
  return { panel, turn, close, uncover };
}
