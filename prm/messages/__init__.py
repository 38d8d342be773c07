"""Messages of the library and the platform: a code with values, and its English sentence.

Catalogues map codes to English sentences: the modules of this package, and those that other packages `register`. A page
looks the code up again and translates the sentence (`annotation.core.wording`).
"""

import string
from collections.abc import Mapping, Sequence
from functools import reduce
from types import ModuleType
from typing import Any

from prm.messages import acquisition, audits, data, evaluation, formats, models, search, training

Value = str | int | float
Sentence = str | tuple[str, str]  # a pair is singular and plural: for `n` = 1, and for any other `n`


class Message(str):
    """An English text with the `code` of its sentence and its `values`, which may be messages themselves."""

    code: str
    values: Mapping[str, Value]

    def __new__(cls, code: str, /, **values: object) -> "Message":
        """Numbers and messages among `values` stay unchanged, an error becomes its message, other values text."""
        known = {name: _value(value) for name, value in values.items()}
        sentence = SENTENCES[code]
        template = sentence if isinstance(sentence, str) else sentence[known["n"] != 1]
        return _message(ENGLISH.vformat(template, (), known), code, known)

    def __reduce__(self) -> tuple[Any, ...]:
        return from_json, (as_json(self),)


SIGNS = str.maketrans({"-": "−", "%": "\N{NO-BREAK SPACE}%"})


def write_number(value: float, form: str) -> str:
    """The number as texts and pages write it, with a minus and an unbroken space before the percent sign: −3.1, 68 %."""
    return format(value, form).translate(SIGNS)


def write_share(share: float | None, digits: int = 0) -> str:
    """The share in percent, as texts and pages write it: 68 %, 68.1 %; "-" if unknown."""
    return "-" if share is None else write_number(share, f".{digits}%")


class Fields(string.Formatter):
    """Formats a sentence whose fields are plain names.

    Figures are numbers with a format, and fractions. Other integers are written as in a file.
    """

    write_number = staticmethod(write_number)

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        return kwargs[field_name], field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        is_figure = isinstance(value, float) or (isinstance(value, int) and bool(format_spec))
        return self.write_number(value, format_spec) if is_figure else str(super().format_field(value, format_spec))


ENGLISH = Fields()
SENTENCES: dict[str, Sentence] = {}
CATALOGUES: list[ModuleType] = []


def register(*catalogues: ModuleType) -> None:
    """Add modules with `SENTENCES` by code. Raises ValueError for a code that another module has."""
    for catalogue in catalogues:
        if taken := SENTENCES.keys() & catalogue.SENTENCES.keys():
            raise ValueError(f"{catalogue.__name__} repeats the codes {', '.join(sorted(taken))}")
        SENTENCES.update(catalogue.SENTENCES)
        CATALOGUES.append(catalogue)


def joined(parts: Sequence[str], code: str = "in_sequence") -> str:
    """Several texts as one, joined pairwise by the sentence of `code`."""
    return reduce(lambda one, other: Message(code, one=one, other=other), parts) if parts else ""


def as_json(text: str) -> Any:
    """A text for JSON: a string, or an object for a message."""
    if not isinstance(text, Message):
        return text
    values = {name: as_json(value) if isinstance(value, str) else value for name, value in text.values.items()}
    return {"code": text.code, "values": values, "text": str(text)}


def from_json(value: Any) -> str:
    """The text that `as_json` converted, in its stored English."""
    if not isinstance(value, dict):
        return str(value)
    values = {name: from_json(one) if isinstance(one, dict) else one for name, one in value["values"].items()}
    return _message(value["text"], value["code"], values)


def _message(text: str, code: str, values: Mapping[str, Value]) -> Message:
    message = str.__new__(Message, text)
    message.code, message.values = code, values
    return message


def _value(value: object) -> Value:
    if isinstance(value, BaseException) and len(value.args) == 1 and isinstance(value.args[0], Message):
        return value.args[0]
    return value if isinstance(value, Message | int | float) else str(value)


register(acquisition, audits, data, evaluation, formats, models, search, training)
