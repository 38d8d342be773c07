const FENCE = /^\s*(`{3,}|~{3,})/;
const BEGINS_ANEW = /^\s*(#{1,6}\s|[-*•]\s|\d{1,3}[.)]\s|\||>)/;
const STANDS_ALONE = /^\s*(#{1,6}\s|\||$)/;

/** Joins the wrapped lines of Markdown written by hand: a break that begins nothing new is a space. */
export function unwrap(markdown: string): string {
  const lines: string[] = [];
  let fenced = false;
  for (const line of markdown.replace(/\r\n?/g, "\n").split("\n")) {
    const fence = FENCE.test(line);
    const before = lines.at(-1);
    const joins = !fenced && !fence && before !== undefined && !FENCE.test(before);
    if (joins && line.trim() && !BEGINS_ANEW.test(line) && !STANDS_ALONE.test(before)) {
      lines[lines.length - 1] = `${before.trimEnd()} ${line.trim()}`;
    } else {
      lines.push(line);
    }
    if (fence) fenced = !fenced;
  }
  return lines.join("\n");
}
