"""Parses the cells of a table: texts, numbers, yes or no, lists, and ratings of steps."""

import ast
import math
import re
from typing import Any

import msgspec

from prm.formats.mapping import Scale
from prm.formats.reading import Unreadable, decoded
from prm.messages import Message

YES = frozenset({"1", "true", "yes", "t", "y", "+", "correct", "right", "good", "positive"})
NO = frozenset({"0", "false", "no", "f", "n", "-", "-1", "incorrect", "wrong", "bad", "negative"})
_SIGNS = {"1": 1, "+1": 1, "+": 1, "0": 0, "-1": -1, "-": -1, "neutral": 0, "okay": 0}
_PYTHON_ITEM = re.compile(
    r"\s*(?P<item>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?\d+(?:\.\d+)?(?:e-?\d+)?|None|True|False)\s*(?P<next>,|$)",
    re.DOTALL,
)
_WHOLE = re.compile(r"[+-]?(?P<digits>\d+)(?:\.0*)?")


def is_empty(cell: Any) -> bool:
    return cell is None or cell == "" or (isinstance(cell, str) and cell.isspace())


def text(cell: Any, column: str) -> str:
    """A cell as text, "true" or "false" for a Boolean; raises Unreadable for a list or an object."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, list | dict):
        raise Unreadable(column, Message("cell_not_text", cell=_name(cell)))
    return str(cell)


def yes_or_no(cell: Any, column: str) -> bool | None:
    """The Boolean in a cell, None if it is empty."""
    word = text(cell, column).strip().casefold()
    if not word:
        return None
    if word not in YES | NO:
        raise Unreadable(column, Message("word_not_yes_or_no", word=_short(word)))
    return word in YES


def number(cell: Any, column: str) -> float | None:
    """The number in a cell, None if it is empty or NaN, which some tools write for a missing number."""
    word = text(cell, column).strip()
    try:
        value = float(word or "nan")
    except ValueError:
        value = math.inf
    if math.isinf(value):
        raise Unreadable(column, Message("word_not_number", word=_short(word)))
    return None if math.isnan(value) else value


def whole_number(cell: Any, column: str, *, digits: int = 9) -> int | None:
    """The number in a cell, None if it is empty; "3" and "3.0" are 3. Raises Unreadable beyond `digits` digits."""
    word = text(cell, column).strip()
    if not word:
        return None
    match = _WHOLE.fullmatch(word)
    if not match or len(match["digits"]) > digits:
        raise Unreadable(column, Message("word_not_whole_number", word=_short(word)))
    return int(word.partition(".")[0])


def items(cell: Any, column: str) -> list[Any]:
    """The list in a cell, also as JSON text or as Python prints it; an empty cell is an empty list."""
    if isinstance(cell, list):
        return cell
    if is_empty(cell):
        return []
    listed = _list_in(cell) if isinstance(cell, str) else None
    if listed is None:
        raise Unreadable(column, Message("cell_not_list", cell=_name(cell)))
    return listed


def object_in(cell: Any, column: str) -> dict[str, Any]:
    """The object in a cell, also as JSON text; an empty cell is an empty object."""
    try:
        value = decoded(cell.encode()) if isinstance(cell, str) and not is_empty(cell) else cell
    except (msgspec.DecodeError, RecursionError):
        raise Unreadable(column, Message("text_not_json_object")) from None
    if is_empty(value):
        return {}
    if not isinstance(value, dict):
        raise Unreadable(column, Message("cell_not_object", found=_name(value)))
    return value


def is_list(cell: Any) -> bool:
    return isinstance(cell, list) or (isinstance(cell, str) and cell.lstrip()[:1] == "[" and _list_in(cell) is not None)


def rating(value: Any, scale: Scale, threshold: float, column: str) -> int | None:
    """The rating that a value means on this scale; None for an empty value."""
    if is_empty(value):
        return None
    word = text(value, column).strip().casefold()
    if word in ("null", "none", "n/a", "nan"):
        return None
    if scale == "share":
        share = number(value, column)
        if share is None or not 0 <= share <= 1:
            raise Unreadable(column, Message("word_not_share", word=_short(word)))
        return 1 if share > threshold else -1
    if scale == "sign" and word in _SIGNS:
        return _SIGNS[word]
    if word not in YES | NO:
        raise Unreadable(column, Message("word_not_rating", word=_short(word)))
    return 1 if word in YES else -1


def _list_in(cell: str) -> list[Any] | None:
    stripped = cell.strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return None
    try:
        value = decoded(stripped.encode())
        return value if isinstance(value, list) else None
    except (msgspec.DecodeError, RecursionError):
        return _python_list(stripped[1:-1])


def _python_list(inside: str) -> list[Any] | None:
    """A list of texts and numbers as Python prints it, parsed item by item; nothing is evaluated."""
    items_read: list[Any] = []
    at = 0
    while at < len(inside):
        match = _PYTHON_ITEM.match(inside, at)
        if match is None:
            return None if inside[at:].strip() else items_read
        try:
            items_read.append(ast.literal_eval(match["item"]))
        except (SyntaxError, ValueError):
            return None
        at = match.end()
    return items_read


_NAMES = {
    list: Message("type_list"),
    dict: Message("type_object"),
    str: Message("type_text"),
    bool: Message("kind_yes_or_no"),
    int: Message("type_number"),
    float: Message("type_number"),
}


def _name(cell: Any) -> str:
    return _NAMES.get(type(cell)) or Message("kind_something_else")


def _short(word: str) -> str:
    return word if len(word) <= 40 else word[:40] + "…"
