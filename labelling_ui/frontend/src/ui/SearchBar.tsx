import { useEffect, useRef } from "preact/hooks";
import { text } from "../text";
import type { Search } from "./searching";

/** Looks for a text in the solution: Enter goes to the next place, Shift and Enter to the one before. */
export function SearchBar({ search, onClose }: { search: Search; onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const { sought, hits, at } = search;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    search.go(event.shiftKey ? -1 : 1);
  };
  return (
    <search class="search-bar">
      <input
        ref={input}
        id="search"
        type="search"
        autocomplete="off"
        aria-label={text.search.label}
        placeholder={text.search.label}
        value={sought}
        onInput={(event) => search.seek(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="count" role="status">
        {sought.trim() && (hits.length > 0 ? text.search.place(at + 1, hits.length) : text.search.nothing)}
      </span>
      <button type="button" class="quiet" aria-disabled={!hits.length} aria-label={text.search.previous} onClick={() => search.go(-1)}>
        ↑
      </button>
      <button type="button" class="quiet" aria-disabled={!hits.length} aria-label={text.search.next} onClick={() => search.go(1)}>
        ↓
      </button>
      <button type="button" class="quiet" aria-label={text.search.close} onClick={onClose}>
        ✕
      </button>
    </search>
  );
}
