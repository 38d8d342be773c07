import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { onNear } from "../reading/near";
import { clearStretch, endIn, Sight, unseenNote } from "../reading/sight";
import { acceptable, firstUnseen } from "../state/derived";
import type { Action, State } from "../state/model";
import { whatNext } from "./ActionBar";
import { focusCurrent } from "./keyboard";

/** Pixels at the foot of a screen that reappear at the head of the next. */
const READ_TWICE = 48;

interface Options {
  /** Identifies the solution on the page. */
  lease: number | undefined;
  state: State | null;
  act: (action: Action) => void;
  say: (sentence: string) => void;
}

export type Accepting = ReturnType<typeof useAccepting>;

/**
 * Accepts steps together once they were seen. Before that it scrolls to the first unseen one; `note` then explains why
 * not all were accepted. The functions stay the same ones.
 */
export function useAccepting(options: Options) {
  const { lease, state } = options;
  const sight = useSight(lease);
  const [refused, setRefused] = useState<{ at: State; words: string } | null>(null);
  // The note makes the foot higher, which would hide the end.
  useLayoutEffect(() => {
    if (refused) readOn();
  }, [refused]);
  const now = useRef({ ...options, sight });
  now.current = { ...options, sight };
  const keys = useMemo(() => {
    const accept = (error: number | null): void => {
      const { state, act, say, sight } = now.current;
      if (!state) return;
      const asked = acceptable(state, error);
      const seen = sight.now(asked.map(({ step }) => step.id));
      const unseen = firstUnseen(state, seen, error);
      act(error === null ? { type: "no_error", seen } : { type: "first_error", step: error, seen });
      if (!unseen) return error === null && asked.length === 0 ? say(whatNext(state)) : undefined;
      const words = unseenNote(unseen.step.id, unseen.position);
      setRefused({ at: state, words });
      say(words);
    };
    return { noError: () => accept(null), firstError: (step: number) => accept(step) };
  }, []);
  // Fresh work is the same for every solution.
  const stands = refused !== null && refused.at.steps === state?.steps && refused.at.work === state.work;
  return { note: stands ? refused.words : "", ...keys };
}

/** The steps seen of the solution on the page; `lease` identifies it. */
function useSight(lease: number | undefined): Sight {
  const sight = useMemo(() => new Sight(), [lease]);
  useEffect(() => sight.watch(onNear), [sight]);
  return sight;
}

/** Scrolls to the unseen part of the current step: its beginning or, after that, one screen further. */
function readOn(): void {
  const step = document.querySelector<HTMLElement>(".shown .step.current");
  if (!step) return;
  const end = endIn(step).getBoundingClientRect().bottom;
  const { top, bottom } = clearStretch();
  const begun = step.getBoundingClientRect().top <= parseFloat(getComputedStyle(step).scrollMarginTop) + 1;
  if (!begun || end <= bottom) return focusCurrent("start");
  step.focus({ preventScroll: true });
  scrollBy({ top: Math.min(end - bottom + READ_TWICE, bottom - top - READ_TWICE) });
}
