/** Shows the rest of something long. */
export function Unfold({ onClick, label }: { onClick: () => void; label: string }) {
  return (
    <button type="button" class="link unfold" onClick={onClick}>
      {label}
    </button>
  );
}
