import type { ComponentProps } from "preact";
import { text } from "../text";
import { LONGEST_TEXT } from "../vocabulary";
import type { Shortcut } from "./keys";
import { useScheme } from "./scheme";

type ButtonProps = Omit<ComponentProps<"button">, "about"> & { about: Shortcut["about"] };

/** A button that shows its key. The mouse leaves the focus in place, so that Enter still submits. */
export function KeyButton({ about, children, ...button }: ButtonProps) {
  const key = useScheme().keyOf(about);
  return (
    <button
      type="button"
      class="quiet"
      aria-keyshortcuts={key || undefined}
      onMouseDown={(event) => event.preventDefault()}
      {...button}
    >
      {children} {key && <kbd aria-hidden="true">{key}</kbd>}
    </button>
  );
}

type FieldProps = Omit<ComponentProps<"textarea">, "about" | "label" | "value"> & {
  label: string;
  /** The key of this field, as named in the key table. */
  about?: Shortcut["about"];
  value: string;
};

/** A text area with its label. It enforces the server's limit, says when it is full, and shows its children below. */
export function Field({ label, about, value, children, ...box }: FieldProps) {
  const { keyOf } = useScheme();
  return (
    <label class="field">
      <span>
        {label} {about && <kbd aria-hidden="true">{keyOf(about)}</kbd>}
      </span>
      <textarea {...box} value={value} maxLength={LONGEST_TEXT} />
      {value.length >= LONGEST_TEXT && <span role="status">{text.full(LONGEST_TEXT)}</span>}
      {children}
    </label>
  );
}
