import type { RefObject } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { selectedText, selectNothing, selectWord } from "../reading/selecting";
import { rows } from "../state/derived";
import type { Action, State } from "../state/model";
import { codePointsTo } from "../state/spans";
import { text } from "../text";

interface Props {
  state: State | null;
  act: (action: Action) => void;
  /** Announces a sentence to a screen reader. */
  say: (sentence: string) => void;
  focusNext: RefObject<string | null>;
}

export type Marking = ReturnType<typeof useMarking>;

/** Marks a span of a step's text, selected by mouse, touch or keys. The functions stay the same ones. */
export function useMarking(props: Props) {
  const now = useRef(props);
  now.current = props;
  return useMemo(() => {
    const select = (by: number, extend: boolean) => {
      const { state, say } = now.current;
      const source = state && textOf(state, state.cursor);
      const place = state && source && selectWord(state.cursor, source, by, extend);
      if (place) say(text.spans.selected(source.slice(place.from, place.to)));
    };
    /** Marks the selected part of a step; without a selection, selects a word to begin with. */
    const mark = () => {
      const { state, act, focusNext } = now.current;
      const selected = selectedText();
      const source = state && selected && textOf(state, selected.step);
      if (!selected || !source) return select(1, false);
      const [start, end] = [selected.place.from, selected.place.to].map((index) => codePointsTo(source, index));
      selectNothing();
      focusNext.current = `#span-${selected.step}-${start}-${end}`;
      act({ type: "mark_span", step: selected.step, start: start!, end: end! });
    };
    return { mark, select, leave: selectNothing };
  }, []);
}

function textOf(state: State, step: number): string | undefined {
  return rows(state).find((row) => row.step.id === step)?.step.text;
}
