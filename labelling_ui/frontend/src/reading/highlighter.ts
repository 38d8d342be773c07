import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import r from "highlight.js/lib/languages/r";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LONGEST = 30_000;

for (const [name, language] of Object.entries({
  bash, cpp, go, java, javascript, json, python, r, rust, sql, typescript, xml, yaml,
})) {
  hljs.registerLanguage(name, language);
}

/** Each line of the code as HTML, escaped by the library; null if it does not know the language. */
export function highlight(code: string, language: string): string[] | null {
  if (code.length > LONGEST || !hljs.getLanguage(language)) return null;
  return linesOf(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}

/** A span over several lines is closed at the end of each line and reopened on the next. */
function linesOf(html: string): string[] {
  const open: string[] = [];
  return html.split("\n").map((line) => {
    const begun = open.join("");
    for (const [tag] of line.matchAll(/<span [^>]*>|<\/span>/g)) {
      if (tag === "</span>") open.pop();
      else open.push(tag);
    }
    return begun + line + "</span>".repeat(open.length);
  });
}
