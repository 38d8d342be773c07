import type { ComponentProps } from "preact";
import { text } from "../text";

/** The longest text that the server takes, its LONGEST_TEXT: more would have it refuse all that is handed in. */
export const LONGEST_TEXT = 20_000;

/** A box for words of the person's own; it takes no more than can be kept, and tells when it is full. */
export function Written({ value, ...box }: Omit<ComponentProps<"textarea">, "value"> & { value: string }) {
  return (
    <>
      <textarea {...box} value={value} maxLength={LONGEST_TEXT} />
      {value.length >= LONGEST_TEXT && <span role="status">{text.full(LONGEST_TEXT)}</span>}
    </>
  );
}
