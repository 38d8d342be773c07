"""Markdown of dataset cards."""

from collections.abc import Mapping
from typing import Any


def table(title: str, key: str, value: str, rows: Mapping[str, Any], *, columns: int = 2) -> str:
    """A section with a table; empty without rows. Rows of more columns have ` | ` in their values."""
    if not rows:
        return ""
    cells = [f"| {cell(name) or '(none)'} | {number} |" for name, number in rows.items()]
    return "\n".join([f"## {title}", "", f"| {key} | {value} |", "|" + " --- |" * columns, *cells])


def cell(text: str) -> str:
    """The text on one line, for a cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def quote(text: str) -> str:
    """The text as a quotation, so that its headings are not the card's."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
