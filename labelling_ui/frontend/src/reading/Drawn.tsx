import type { Leaf } from "./source";

/** A rendered leaf with its position in the source, by which selections and search hits are located (places.ts). */
export function Drawn({ text, from, skips, class: name }: Leaf & { class?: string }) {
  return (
    <span class={name} {...placeOf({ from, skips })}>
      {text}
    </span>
  );
}

export function placeOf({ from, skips }: Omit<Leaf, "text">): Record<string, string> {
  const place = { "data-from": String(from) };
  return skips?.length ? { ...place, "data-skips": skips.map((skip) => skip.join(":")).join(" ") } : place;
}
