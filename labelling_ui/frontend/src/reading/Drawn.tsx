import type { ComponentChildren } from "preact";
import type { Leaf } from "./source";

type Props = Leaf & { class?: string; children?: ComponentChildren };

/** A leaf on the page. It says where it stands in its source, so that what is selected or found can be told (places.ts). */
export function Drawn({ text, from, skips, class: name, children }: Props) {
  return (
    <span class={name} {...placeOf({ from, skips })}>
      {children ?? text}
    </span>
  );
}

export function placeOf({ from, skips }: Omit<Leaf, "text">): Record<string, string> {
  const place = { "data-from": String(from) };
  return skips?.length ? { ...place, "data-skips": skips.map((skip) => skip.join(":")).join(" ") } : place;
}
