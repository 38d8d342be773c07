import type * as Highlighter from "./highlighter";

let tools: typeof Highlighter | null = null;
let coming: Promise<void> | null = null;

/** The highlighter is a chunk of its own, asked for when there is code to show. */
function fetched(): Promise<void> {
  coming ??= import("./highlighter").then((module) => {
    tools = module;
  });
  return coming;
}

/** Comes when code of this language can be coloured; null where it never will be. */
export function highlighterFor(language: string): Promise<void> | null {
  return language ? fetched() : null;
}

/** Each line of the code as HTML; null where the language is unknown or the highlighter is not there yet. */
export function coloured(code: string, language: string): string[] | null {
  return (language && tools?.highlight(code, language)) || null;
}
