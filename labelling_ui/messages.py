"""Messages on the forms of pages."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "columns_unreadable": "The column mapping is invalid: {error}.",
    "critiques_left": "Rate every explanation of step {n}, or none of them.",
    "page_decided": "You decided this solution before you came back to its page. Your decision stands. To change it, decide again below.",
}
