"""What services say: kept in English with its template, put into the reader's language where it is shown.

`gettext` is for what is told at once to the one who asked, `said` for what workers and the database keep.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.formats import get_format
from django.utils.translation import gettext, ngettext

from prm.faults import fault_of, sentence_of
from prm.said import Fields, Said, as_json, counted, from_json, joined, said

__all__ = [
    "Said",
    "as_json",
    "counted",
    "fault_of",
    "from_json",
    "in_reader_words",
    "in_words",
    "joined",
    "said",
    "sentence_of",
    "told",
]


def in_words(text: str) -> str:
    """A text in the reader's language; English if it has no template, as the texts of other libraries."""
    if not isinstance(text, Said):
        return text
    try:
        return _FIELDS.vformat(_template(text), (), text.values)
    except (KeyError, ValueError, TypeError):
        return str(text)  # kept by another release, whose values are not what the template asks for now


def told(kept: Mapping[str, Any], name: str = "sentence") -> str:
    """What a JSON object says under a name: English there, and under `said` for readers of any language."""
    return from_json(kept.get("said", {}).get(name) or kept.get(name) or "")


def in_reader_words(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Such an object with its sentences in the reader's language."""
    rest = {name: value for name, value in kept.items() if name != "said"}
    return rest | {name: in_words(told(kept, name)) for name in kept.get("said", {})}


def _template(text: Said) -> str:
    return ngettext(text.template, text.many, int(text.values["n"])) if text.many else gettext(text.template)


class _ReaderFields(Fields):
    """Writes sentences and numbers in the language that is active."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Said):
            return in_words(value)
        text = str(super().format_field(value, format_spec))
        is_figure = isinstance(value, float) or (isinstance(value, int) and bool(format_spec))
        return _localised(text) if is_figure else text


_FIELDS = _ReaderFields()


def _localised(number: str) -> str:
    return number.translate({ord(","): get_format("THOUSAND_SEPARATOR"), ord("."): get_format("DECIMAL_SEPARATOR")})
