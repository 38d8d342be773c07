import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Config, Term as Name } from "../config";

export const Glossary = createContext<Config["terms"] | null>(null);

/** A word with a link to its entry in the glossary; `terms.js` shows the definition beside it. */
export function Term({ about, children }: { about: Name; children: ComponentChildren }) {
  const term = useContext(Glossary)?.[about];
  if (!term) return <>{children}</>;
  return (
    <a class="term" href={term.url} target="_blank" rel="noopener" aria-description={term.definition}>
      {children}
    </a>
  );
}

/** All terms of the workbench. */
export function Terms() {
  const terms = useContext(Glossary);
  if (!terms) return null;
  return (
    <ul class="glossary-links">
      {(Object.keys(terms) as Name[]).map((about) => (
        <li key={about}>
          <Term about={about}>{terms[about].name}</Term>
        </li>
      ))}
    </ul>
  );
}
