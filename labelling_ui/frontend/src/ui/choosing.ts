const ARROWS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export type Press = KeyboardEvent & { currentTarget: HTMLElement };

/** Keys within a group of buttons, or of a form's radio buttons: arrows go from one to the next, a digit chooses. */
export function choosing(choose: (index: number, group: HTMLElement) => void): (event: Press) => void {
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

/** Gives the keyboard back to the step in which something was chosen. */
export function backToStep(from: HTMLElement): void {
  from.closest<HTMLElement>(".step")?.focus({ preventScroll: true });
}
