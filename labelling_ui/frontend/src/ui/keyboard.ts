import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";

/** More places than a person could have opened one from another. */
const REMEMBERED = 8;

const LEFT_BEHIND = ".step:not(.current), .step:not(.current) button, .map button";

/** Focuses the current step and scrolls to it; "start" scrolls it to the top, so that what follows can be read too. */
export function focusCurrent(block: "nearest" | "start" = "nearest"): void {
  currentStep()?.focus({ preventScroll: true });
  showCurrent(block);
}

/** Only scrolls there. Steps on the way get their height only near the screen: the second scroll is accurate. */
export function showCurrent(block: "nearest" | "start" = "nearest"): void {
  const show = () => currentStep()?.scrollIntoView({ block });
  show();
  requestAnimationFrame(show);
}

/**
 * Follows the current step after the mouse or the thumb moved it. The focus comes along if it was on the step before or
 * on the map, so that its frame never stays on another step; the thumb never rates what its buttons hide.
 */
export function followCurrent(): void {
  const at = document.activeElement;
  if (at?.closest(".thumb")) showCurrent();
  else if (!at || at === document.body || at.matches(LEFT_BEHIND)) focusCurrent();
}

function currentStep(): HTMLElement | null {
  return document.querySelector<HTMLElement>(".shown .step.current");
}

/**
 * Where the focus returns from a closed part: to what opened it, or to the current step after a mouse click or a key of
 * the workbench. A focused part that disappears returns the focus too.
 */
export function useWayBack(): (from: Element) => void {
  const way = useMemo(() => new Way(), []);
  useEffect(() => {
    const note = ({ target }: FocusEvent) => way.note(target as HTMLElement);
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  }, [way]);
  useLayoutEffect(() => {
    if (document.activeElement === document.body && way.vanished()) way.back(null);
  });
  return (from) => way.back(from);
}

class Way {
  private last: Element | null = null;
  private readonly places: HTMLElement[] = [];

  /** A place counts as a way back if the keyboard was led there. */
  note(place: HTMLElement): void {
    this.last = place;
    if (place.matches(":focus-visible")) this.places.push(place);
    if (this.places.length > REMEMBERED) this.places.shift();
  }

  vanished(): boolean {
    return this.last !== null && !this.last.isConnected;
  }

  back(from: Element | null): void {
    const opener = this.places.filter((place) => place.checkVisibility() && !from?.contains(place)).at(-1);
    if (opener && !opener.matches(".step")) opener.focus();
    else focusCurrent();
  }
}

const ARROWS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export type GroupPress = KeyboardEvent & { currentTarget: HTMLElement };

/** Keys inside a group of buttons or radio buttons: arrows move, a digit chooses. */
export function choosing(choose: (index: number, group: HTMLElement) => void): (event: GroupPress) => void {
  return (event) => {
    const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>("button, input")];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const by = ARROWS[event.key];
    const digit = Number(event.key) - 1;
    if (by && at >= 0) buttons[(at + by + buttons.length) % buttons.length]?.focus();
    else if (buttons[digit]) choose(digit, event.currentTarget);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

/** Returns the focus to the step in which something was chosen. */
export function backToStep(from: HTMLElement): void {
  from.closest<HTMLElement>(".step")?.focus({ preventScroll: true });
}
