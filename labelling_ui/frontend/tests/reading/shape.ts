import { parse } from "../../src/reading/blocks";
import { parseInline } from "../../src/reading/inlines";
import { Source } from "../../src/reading/source";

const PLACES = new Set(["from", "to", "skips", "source", "flows"]);

/** The parsed text, without positions and line breaks. */
export function bare<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value, (key, inner: unknown) => (PLACES.has(key) ? undefined : inner))) as Value;
}

export const blocksOf = (text: string) => bare(parse(text));
export const inlinesOf = (text: string) => bare(parseInline(new Source(text)));

export const said = (text: string) => ({ type: "text", text });
export const maths = (tex: string, display = false) => ({ type: "math", tex, display });
