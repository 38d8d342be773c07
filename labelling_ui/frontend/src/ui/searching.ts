import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { markHits, rangeShowing } from "../reading/marking";
import { onDrawn } from "../reading/near";
import { find, firstFrom, type Hit } from "../reading/search";
import { rows } from "../state/derived";
import type { Action, State } from "../state/model";

export interface Search {
  sought: string;
  hits: readonly Hit[];
  /** Index of the hit that the person is at. */
  at: number;
  seek: (sought: string) => void;
  go: (by: 1 | -1) => void;
}

/** Searching within the solution on the page; the cursor goes with the hits. `open` is whether it is asked for. */
export function useSearch(state: State | null, open: boolean, act: (action: Action) => void): Search {
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

  // Steps on the way get their height only when they come near: where the first look was off, the second is not.
  useLayoutEffect(() => {
    if (!here) return;
    bringIntoView(here);
    const again = requestAnimationFrame(() => bringIntoView(here));
    return () => cancelAnimationFrame(again);
  }, [here]);

  // Asked for by the hand and not by an effect: an action draws the page at once, and that may not happen while it is drawn.
  const take = (index: number, among: readonly Hit[]) => {
    setAt(index);
    const hit = among[index];
    if (hit) act({ type: "go", step: hit.step });
  };
  return {
    sought,
    hits,
    at,
    seek: (next) => {
      setSought(next);
      const found = find(shown, next);
      take(firstFrom(found, shown.map((step) => step.id), state?.cursor ?? 0), found);
    },
    go: (by) => take((at + by + hits.length) % Math.max(1, hits.length), hits),
  };
}

function bringIntoView(hit: Hit): void {
  const place = rangeShowing(hit)?.getBoundingClientRect();
  if (place) window.scrollBy(0, place.top - innerHeight / 2);
}
