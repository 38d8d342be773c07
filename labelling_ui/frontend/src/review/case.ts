import { Sight, unseenNote } from "../reading/sight";
import type { Action, Word } from "./keys";
import { markSelected } from "./marks";
import { following, isWhole, type Verdict, withFirstError } from "./verdict";

/** The radio buttons that rate a step; its given critiques have others. */
const VERDICT = "input[name^=word-]";

/** The table of a case: the reviewer's position in it, and their ratings, stored in its radio buttons. */
export class Case {
  private readonly rows: HTMLTableRowElement[];
  private readonly rated: HTMLTableRowElement[];
  private readonly stops: boolean;
  private readonly sight = new Sight();
  private readonly folding = document.querySelector<HTMLButtonElement>(".folding button");
  private current: HTMLTableRowElement | undefined;

  constructor(private readonly table: HTMLTableElement) {
    this.rows = [...table.tBodies[0]!.rows];
    this.rated = this.rows.filter((row) => row.querySelector(VERDICT));
    this.stops = table.dataset.stops === "yes";
  }

  /** Starts at the first difference, with the agreed steps before it folded. */
  start(): void {
    if (this.folding) {
      this.folding.parentElement!.hidden = false;
      this.folding.addEventListener("click", () => this.fold());
      this.fold();
    }
    this.table.addEventListener("focusin", ({ target }) => {
      const row = target instanceof Element ? target.closest("tr") : null;
      if (row && this.rows.includes(row)) this.mark(row);
    });
    this.table.addEventListener("change", ({ target }) => {
      if (target instanceof Element && target.matches(VERDICT)) accept(target.closest("tr")!, false);
      this.show();
    });
    const first = this.rows.find((row) => row.classList.contains("differs")) ?? this.rows[0];
    if (first) this.mark(first);
    this.sight.watch((near) => {
      this.rated.forEach(near);
      return () => undefined;
    });
    this.show();
  }

  /** Performs the action of a key; false if there is none. */
  perform(action: Action): boolean {
    switch (action.kind) {
      case "press":
        return this.press(action.key);
      case "move":
        return this.go(this.shown(), action.by);
      case "nextDifference":
        return this.go(this.rows.filter((row) => row.classList.contains("differs")), 1);
      case "fold":
        return this.fold();
      case "rate":
        return this.rate(action.word);
      case "firstError":
        return this.markError();
      case "more":
        return this.sayMore();
      case "leave":
        return this.leave();
    }
  }

  private verdict(): Verdict {
    return this.rated.map((row) => {
      const checked = row.querySelector<HTMLInputElement>(`${VERDICT}:checked`);
      return (checked?.value as Word | undefined) ?? null;
    });
  }

  private rate(word: Word): boolean {
    const place = this.place();
    if (place === null) return false;
    choose(this.rated[place]!, word);
    accept(this.rated[place]!, false);
    this.show();
    this.focus(this.rated[following(this.verdict(), place, this.stops)]!);
    return true;
  }

  private markError(): boolean {
    const place = this.place();
    if (place === null || this.readsOn(place)) return place !== null;
    const before = this.verdict();
    withFirstError(before, place).forEach((word, n) => {
      if (word === before[n] || word === null) return;
      choose(this.rated[n]!, word);
      accept(this.rated[n]!, n < place);
    });
    this.show();
    return true;
  }

  /** Moves to the first step before `place` that is unrated and not seen to its end; false if all were seen. */
  private readsOn(place: number): boolean {
    const verdict = this.verdict();
    const unrated = this.rated.slice(0, place).filter((_, n) => verdict[n] === null);
    const seen = this.sight.now(unrated.map(stepOf));
    const unseen = unrated.find((row) => !seen.has(stepOf(row)));
    if (!unseen) return false;
    if (!this.shown().includes(unseen)) this.fold();
    this.focus(unseen, "start");
    this.say(unseenNote(stepOf(unseen), this.rated.indexOf(unseen)));
    return true;
  }

  private say(words: string): void {
    document.getElementById("read-on")!.textContent = words;
  }

  /** Greys the steps after the first error, and disables the decision until every step has its rating. */
  private show(): void {
    this.say("");
    const verdict = this.verdict();
    const error = this.stops ? verdict.indexOf("-1") : -1;
    const last = error < 0 ? undefined : this.rated[error];
    const beyond = last ? this.rows.indexOf(last) : this.rows.length;
    this.rows.forEach((row, n) => row.classList.toggle("beyond", n > beyond));
    const button = document.querySelector<HTMLButtonElement>("button[data-key=Enter]");
    if (button) button.disabled = !isWhole(verdict, this.stops);
  }

  private place(): number | null {
    const place = this.current ? this.rated.indexOf(this.current) : -1;
    return place < 0 ? null : place;
  }

  private shown(): HTMLTableRowElement[] {
    const folded = this.table.classList.contains("folded");
    return this.rows.filter((row) => !(folded && row.classList.contains("before")));
  }

  private go(rows: HTMLTableRowElement[], by: 1 | -1): boolean {
    const at = this.current ? this.rows.indexOf(this.current) : -1;
    const ahead = rows.filter((row) => (this.rows.indexOf(row) - at) * by > 0);
    const next = by === 1 ? ahead[0] : ahead.at(-1);
    if (next) this.focus(next);
    return next !== undefined;
  }

  private fold(): boolean {
    const folded = this.table.classList.toggle("folded");
    this.folding?.setAttribute("aria-expanded", String(!folded));
    return true;
  }

  /** Opens the dimensions of the current step; marks the selected part of its text, if any. */
  private sayMore(): boolean {
    const mark = markSelected(this.table);
    const more = mark?.closest("details") ?? this.current?.querySelector<HTMLDetailsElement>("details.more");
    if (!more) return false;
    more.open = true;
    const fields = [...more.querySelectorAll<HTMLElement>("select, textarea, input:not([type=hidden])")];
    (mark ?? fields.find((field) => field.checkVisibility()))?.focus();
    return true;
  }

  /** Returns the focus from a field to its step. */
  private leave(): boolean {
    const row = document.activeElement?.closest<HTMLTableRowElement>("details.more")?.closest("tr");
    row?.focus({ preventScroll: true });
    return Boolean(row);
  }

  private press(key: string): boolean {
    const target = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
    if (!target || (target instanceof HTMLButtonElement && target.disabled)) return false;
    target.click();
    const opened = target.closest("details");
    if (opened?.open) opened.querySelector("input:not([type=hidden])")?.scrollIntoView({ block: "nearest" });
    if (opened?.open) opened.querySelector<HTMLInputElement>("input:not([type=hidden])")?.focus();
    return true;
  }

  private focus(row: HTMLTableRowElement, block: "nearest" | "start" = "nearest"): void {
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block });
    this.mark(row);
  }

  private mark(row: HTMLTableRowElement): void {
    this.current?.removeAttribute("aria-current");
    row.setAttribute("aria-current", "step");
    this.current = row;
  }
}

function stepOf(row: HTMLTableRowElement): number {
  return Number(row.querySelector<HTMLElement>("[data-text-of]")?.dataset.textOf);
}

function choose(row: HTMLTableRowElement, word: Word): void {
  const radio = row.querySelector<HTMLInputElement>(`${VERDICT}[value="${word}"]`);
  if (radio) radio.checked = true;
}

/** Records whether a step was accepted together with others, by one key. */
function accept(row: HTMLTableRowElement, together: boolean): void {
  const field = row.querySelector<HTMLInputElement>("input[name^=accepted-]");
  if (field) field.value = together ? "yes" : "";
}
