const DATA = "data:image\\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+=*";
const ADDRESS = new RegExp(`^${DATA}$`);
const IN_TEXT = new RegExp(`!\\[[^\\]\\n]*\\]\\(${DATA}\\)`, "g");

/** Whether an address is a data URL of an image type that cannot contain scripts. */
export function isImage(address: string): boolean {
  return ADDRESS.test(address);
}

/** Where a text contains images as data URLs. */
export function imagesIn(text: string): { from: number; to: number }[] {
  if (!text.includes("](data:image/")) return [];
  return [...text.matchAll(IN_TEXT)].map((match) => ({ from: match.index, to: match.index + match[0].length }));
}
