import type { ComponentProps } from "preact";
import { text } from "../text";
import { LONGEST_TEXT } from "../vocabulary";

/** A text area that takes no more than the server does, and says when it is full. */
export function Written({ value, ...box }: Omit<ComponentProps<"textarea">, "value"> & { value: string }) {
  return (
    <>
      <textarea {...box} value={value} maxLength={LONGEST_TEXT} />
      {value.length >= LONGEST_TEXT && <span role="status">{text.full(LONGEST_TEXT)}</span>}
    </>
  );
}
