import { useEffect, useRef, useState } from "preact/hooks";
import { useScheme } from "./scheme";
import { spoken, type Heard } from "./spoken";

/** A sentence of the page's own; a new object says it again. */
export interface Saying {
  readonly words: string;
}

/** Says to a screen reader what happened. Each sentence is a node of its own: the same one twice is heard twice. */
export function Announcer({ view, said }: { view: Heard; said: Saying }) {
  const { nameOf } = useScheme();
  const [now, setNow] = useState({ words: "", turn: 0 });
  const say = (words: string) => words && setNow(({ turn }) => ({ words, turn: turn + 1 }));
  const before = useRef(view);
  useEffect(() => {
    const earlier = before.current;
    before.current = view;
    say(spoken(earlier, view, nameOf));
  }, [view]);
  useEffect(() => void say(said.words), [said]);
  return (
    <div class="visually-hidden" role="status">
      <p key={now.turn}>{now.words}</p>
    </div>
  );
}
