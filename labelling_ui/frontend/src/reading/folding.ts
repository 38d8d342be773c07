import { imagesIn } from "./images";

const FOLD_CHARS = 6_000;

/** Where a long text is folded: behind a paragraph or a line where one ends not far before the limit, and in no image. */
export function foldAt(text: string): number {
  const images = imagesIn(text);
  const shown = images.reduce((length, { from, to }) => length - (to - from), text.length);
  if (shown <= FOLD_CHARS * 1.25) return text.length;
  const edges = ["\n\n", "\n", " "].map((edge) => text.lastIndexOf(edge, FOLD_CHARS));
  const cut = edges.find((edge) => edge > FOLD_CHARS / 2) ?? FOLD_CHARS;
  return images.find(({ from, to }) => from < cut && cut < to)?.to ?? cut;
}
