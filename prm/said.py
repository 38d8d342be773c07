"""Sentences that are kept for readers of any language: English text that still knows its template and its values.

A `Said` is a `str` in English, and is nothing else to files, logs and a shell. Whoever shows it to a reader says its
template in their language. The templates are literals in calls of `said` and `counted`, where the catalogues find them.
"""

import string
from collections.abc import Mapping, Sequence
from typing import Any

Value = str | int | float


class Said(str):
    """English, with the `template` that it was said by, and the one for `many` where its words depend on a number."""

    template: str
    many: str
    values: Mapping[str, Value]


class Fields(string.Formatter):
    """Fills in a template. Its fields are plain names: one that was kept reaches into nothing."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        return kwargs[field_name], field_name


ENGLISH = Fields()


def said(template: str, /, **values: object) -> Said:
    """`template` with `values` in its {fields}; numbers and other Saids stay what they are, the rest becomes text."""
    return _said(template, "", values)


def counted(one: str, many: str, /, *, n: int, **values: object) -> Said:
    """`said` with `one` where `n` is 1, else with `many`. Of several numbers each is a value, counted by itself."""
    return _said(one, many, {"n": n, **values})


def joined(parts: Sequence[str], between: str = " ") -> str:
    """Sentences one after the other; each is said in the reader's language."""
    if len(parts) < 2:
        return parts[0] if parts else ""
    names = [f"part{i}" for i in range(len(parts))]
    return said(between.join(f"{{{name}}}" for name in names), **dict(zip(names, parts, strict=True)))


def as_json(text: str) -> Any:
    """What JSON holds of a text: a string, or an object for a `Said`."""
    if not isinstance(text, Said):
        return text
    values = {name: as_json(value) if isinstance(value, str) else value for name, value in text.values.items()}
    return {"said": text.template, **({"many": text.many} if text.many else {}), "values": values}


def from_json(value: Any) -> str:
    """The text that `as_json` gave."""
    if not isinstance(value, dict):
        return str(value)
    values = {name: from_json(one) if isinstance(one, dict) else one for name, one in value["values"].items()}
    return _said(value["said"], value.get("many", ""), values)


def _said(template: str, many: str, values: Mapping[str, object]) -> Said:
    kept = {name: _kept(value) for name, value in values.items()}
    text = Said(ENGLISH.vformat(many if many and kept["n"] != 1 else template, (), kept))
    text.template, text.many, text.values = template, many, kept
    return text


def _kept(value: object) -> Value:
    """Of an error what it was raised with, which may be a `Said`."""
    if isinstance(value, BaseException) and len(value.args) == 1 and isinstance(value.args[0], Said):
        return value.args[0]
    return value if isinstance(value, Said | int | float) else str(value)
