import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Scheme } from "../api/types";
import { offers, type Answer } from "../state/model";
import { text } from "../text";
import { ANSWERS } from "../vocabulary";
import { keyOf, shortcutsOf, type Shortcut } from "./keys";

/** The project's scheme as the page shows it: the offered answers in order, and the keys. */
type SchemeLook = ReturnType<typeof lookOf>;

/** An answer under the project's name. */
export type Look = SchemeLook["answers"][number];

/** `null`: the defaults, before there is a solution. */
export function lookOf(scheme: Scheme | null) {
  const shortcuts = shortcutsOf(scheme);
  const nameOf = (answer: Answer) => scheme?.answers[answer].name || text.answers[answer];
  const offered = ANSWERS.filter((answer) => !scheme || offers(scheme, answer));
  const answers = offered.map((answer) => ({
    answer,
    name: nameOf(answer),
    help: scheme?.answers[answer].help || text.answerHelp[answer],
    key: keyOf(answer, shortcuts),
  }));
  return { scheme, answers, shortcuts, nameOf, keyOf: (about: Shortcut["about"]) => keyOf(about, shortcuts) };
}

/** The scheme's colours in place of the workbench's own: each is one of the shared hues, legible in both themes. */
export function coloursOf(scheme: Scheme | null): Record<string, string> {
  const chosen = ANSWERS.flatMap((answer) => {
    const colour = scheme?.answers[answer].colour;
    return colour ? [[`--${answer}`, `var(--hue-${colour})`]] : [];
  });
  return Object.fromEntries(chosen) as Record<string, string>;
}

export const SchemeContext = createContext<SchemeLook | null>(null);

export function useScheme(): SchemeLook {
  return useContext(SchemeContext) ?? lookOf(null);
}
