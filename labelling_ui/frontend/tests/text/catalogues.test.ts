import { expect, it } from "vitest";
import { de } from "../../src/text/de";
import { en, type Catalogue } from "../../src/text/en";

/** The same in both languages; any other equal text is not translated yet. */
const ALIKE = new Set(["Plan", "Stepmark", "neutral", "Neutral", "Name", "Text", "–", ""]);
const SYMBOLS = /^[^\p{L}]*$/u;

/** The texts of a catalogue by path; a phrase about a number is written for none, one, two and many. */
function sayings(node: unknown, path = ""): [string, string][] {
  if (typeof node === "string") return [[path, node]];
  if (typeof node === "function") return phrases(node as Phrase).map(([given, said]) => [`${path}(${given})`, said]);
  return Object.entries(node as object).flatMap(([name, inner]) => sayings(inner, path ? `${path}.${name}` : name));
}

type Phrase = (...given: (number | string)[]) => string;

/** A phrase with numbers and with a word, without the arguments that it rejects. */
function phrases(phrase: Phrase): [number | string, string][] {
  return [0, 1, 2, 1234, "Beispiel"].flatMap((given) => {
    try {
      return [[given, phrase(given, given, given)]];
    } catch {
      return [];
    }
  });
}

const german = new Map(sayings(de));

it("has a German saying for every English one", () => {
  const places = (paths: Iterable<string>) => [...new Set([...paths].map((path) => path.split("(")[0]))].sort();
  expect(places(german.keys())).toEqual(places(sayings(en).map(([path]) => path)));
});

it("says nothing in German as English says it, other than words that are the same", () => {
  const alike = (said: string) => ALIKE.has(said) || SYMBOLS.test(said.replace("Beispiel", ""));
  const forgotten = sayings(en).filter(([path, said]) => german.get(path) === said && !alike(said));
  expect(forgotten).toEqual([]);
});

it("leaves no blank and no hole in a saying", () => {
  const holes = [...sayings(en), ...german].filter(([, said]) => /undefined|\[object|^\s|\s$/.test(said));
  expect(holes).toEqual([]);
});

it("writes numbers and plurals as each language does", () => {
  const said = (catalogue: Catalogue) => [catalogue.header.today(1234), catalogue.header.each(96), catalogue.reading.showLines(1)];
  expect(said(en)).toEqual(["1,234 today", "1.6 min each", "Show all 1 line"]);
  expect(said(de)).toEqual(["1.234 heute", "je 1,6 min", "Alle 1 Zeile zeigen"]);
});
