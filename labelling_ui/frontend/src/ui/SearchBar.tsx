import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { markHits, rangeShowing } from "../reading/highlights";
import { onDrawn } from "../reading/near";
import { find, firstFrom, type Hit } from "../reading/search";
import { rows } from "../state/derived";
import type { Action, State } from "../state/model";
import { text } from "../text";
import { showCurrent } from "./keyboard";

type Search = ReturnType<typeof useSearch>;

/** Searches the solution on the page; the cursor follows the hits. `open` is whether the bar is open. */
export function useSearch(state: State | null, open: boolean, act: (action: Action) => void) {
  const [sought, setSought] = useState("");
  const [at, setAt] = useState(0);
  const steps = state?.steps;
  const shown = state && open ? rows(state).map(({ step }) => step) : [];
  const shape = shown.map((step) => step.id).join();
  const hits = useMemo(() => find(shown, sought), [shape, sought]);
  const here = hits[at] ?? null;

  useEffect(() => setSought(""), [steps]);

  useLayoutEffect(() => {
    markHits(hits, here);
    const stop = onDrawn(() => markHits(hits, here));
    return () => {
      stop();
      markHits([], null);
    };
  }, [hits, here]);

  // Steps on the way get their height only near the screen: the second scroll is accurate.
  useLayoutEffect(() => {
    if (!here) return;
    bringIntoView(here);
    const again = requestAnimationFrame(() => bringIntoView(here));
    return () => cancelAnimationFrame(again);
  }, [here]);

  // Called directly and not from an effect: an action redraws the page at once, which may not happen while drawing.
  const take = (index: number, among: readonly Hit[]) => {
    setAt(index);
    const hit = among[index];
    if (hit) act({ type: "go", step: hit.step });
  };
  return {
    sought,
    hits,
    /** Index of the current hit. */
    at,
    seek: (next: string) => {
      setSought(next);
      const found = find(shown, next);
      take(firstFrom(found, shown.map((step) => step.id), state?.cursor ?? 0), found);
    },
    go: (by: 1 | -1) => take((at + by + hits.length) % Math.max(1, hits.length), hits),
  };
}

function bringIntoView(hit: Hit): void {
  const place = rangeShowing(hit)?.getBoundingClientRect();
  if (place) window.scrollBy(0, place.top - innerHeight / 2);
}

/** Searches the solution: Enter goes to the next hit, Shift and Enter to the previous one. */
export function SearchBar({ search, onClose }: { search: Search; onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const { sought, hits, at } = search;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    search.go(event.shiftKey ? -1 : 1);
  };
  return (
    <search class="search-bar">
      <input
        ref={input}
        id="search"
        type="search"
        autocomplete="off"
        aria-label={text.search.label}
        placeholder={text.search.label}
        value={sought}
        onInput={(event) => search.seek(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="count" role="status">
        {sought.trim() && (hits.length > 0 ? text.search.place(at + 1, hits.length) : text.search.nothing)}
      </span>
      <button type="button" class="quiet" aria-disabled={!hits.length} aria-label={text.search.previous} onClick={() => search.go(-1)}>
        ↑
      </button>
      <button type="button" class="quiet" aria-disabled={!hits.length} aria-label={text.search.next} onClick={() => search.go(1)}>
        ↓
      </button>
      <button type="button" class="quiet" aria-label={text.search.close} onClick={onClose}>
        ✕
      </button>
    </search>
  );
}

interface Props {
  state: State;
  act: (action: Action) => void;
}

/** A step by its number: each digit goes there, and any other key closes the box and does its usual action. */
export function GoTo({ state, act }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  useEffect(() => input.current?.focus(), []);
  const steps = rows(state).filter((row) => row.main);
  const seek = (value: string) => {
    const digits = value.replace(/\D/g, "");
    setTyped(digits);
    const row = steps.find(({ position }) => position + 1 === Number(digits));
    if (!row) return;
    act({ type: "go", step: row.step.id });
    showCurrent();
  };
  const there = steps.some(({ position }) => position + 1 === Number(typed));
  return (
    <div class="search-bar" role="group" aria-label={text.goTo.label}>
      <label htmlFor="go-to">{text.goTo.label}</label>
      <input
        ref={input}
        id="go-to"
        data-number
        inputMode="numeric"
        autocomplete="off"
        value={typed}
        onInput={(event) => seek(event.currentTarget.value)}
      />
      <span class="count" role="status">
        {typed && !there ? text.goTo.none(steps.length) : text.goTo.of(steps.length)}
      </span>
    </div>
  );
}
