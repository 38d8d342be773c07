import { useState } from "preact/hooks";
import type { Term } from "../api/types";
import { grouped } from "../state/dimensions";
import { backToStep, choosing } from "./keyboard";

interface Props {
  /** The chosen terms, for a screen reader, and with the key for the eye. */
  title: string;
  /** Without it, the control that opened the terms has the title. */
  keys?: string;
  class: string;
  terms: Term[];
  chosen: readonly string[];
  onChoose: (name: string) => void;
}

/** Terms of the project to choose from, in their groups; the explanation of a term is shown on focus. */
export function TermChips({ title, keys, class: kind, terms, chosen, onChoose }: Props) {
  const [looked, setLooked] = useState<Term | null>(null);
  const groups = grouped(terms);
  const inOrder = groups.flatMap((group) => group.terms);
  const choose = (term: Term, from: HTMLElement) => {
    onChoose(term.name);
    backToStep(from);
  };
  return (
    <div
      class={`terms ${kind}`}
      role="group"
      aria-label={title}
      onKeyDown={choosing((index, group) => choose(inOrder[index]!, group))}
      onMouseLeave={() => setLooked(null)}
    >
      {keys && (
        <span>
          {title} <kbd aria-hidden="true">{keys}</kbd>
        </span>
      )}
      {groups.map(({ group, terms: inGroup }) => (
        <span key={group} class="term-group" role={group ? "group" : undefined} aria-label={group || undefined}>
          {group && <span class="term-heading">{group}</span>}
          {inGroup.map((term) => (
            <button
              key={term.name}
              type="button"
              class="chip"
              aria-pressed={chosen.includes(term.name)}
              aria-description={term.help || undefined}
              onFocus={() => setLooked(term)}
              onBlur={() => setLooked(null)}
              onMouseEnter={() => setLooked(term)}
              onClick={(event) => choose(term, event.currentTarget)}
            >
              {inOrder.indexOf(term) < 9 && <kbd aria-hidden="true">{inOrder.indexOf(term) + 1}</kbd>} {term.name}
            </button>
          ))}
        </span>
      ))}
      {looked?.help && <p class="term-help">{looked.help}</p>}
    </div>
  );
}
