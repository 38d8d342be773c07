"""Messages in the reader's language: the sentence of a code is translated where it is shown.

`gettext` is for what is answered at once to the reader, `Message` for errors and for what workers store.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.formats import get_format
from django.utils.translation import gettext, ngettext

from prm.messages import SENTENCES, Fields, Message, from_json


def in_words(text: str) -> str:
    """A text in the reader's language; as it was stored if it is no message or this release does not know its code."""
    if not isinstance(text, Message) or text.code not in SENTENCES:
        return str(text)
    try:
        return _FIELDS.vformat(_translated(text), (), text.values)
    except (KeyError, ValueError, TypeError):
        return str(text)  # stored by another release, whose values are not those of the sentence today


def as_message(text: str) -> Message:
    """The text as a message. That of an extension may have no code, and is then shown as it is."""
    message = text if isinstance(text, Message) else from_json({"code": "", "values": {}, "text": text})
    assert isinstance(message, Message)
    return message


def read_message(kind: type[Message], value: Any) -> Message:
    """A message from its JSON; the `dec_hook` of structs that have one."""
    return as_message(from_json(value))


def message_of(state: Mapping[str, Any], name: str) -> str:
    """The text of a JSON object under a name: English there, and under `messages` with its code and values."""
    return from_json(state.get("messages", {}).get(name) or state.get(name) or "")


def _translated(message: Message) -> str:
    sentence = SENTENCES[message.code]
    return gettext(sentence) if isinstance(sentence, str) else ngettext(*sentence, int(message.values["n"]))


class _ReaderFields(Fields):
    """Writes messages and numbers in the language that is active."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Message):
            return in_words(value)
        text = str(super().format_field(value, format_spec))
        is_figure = isinstance(value, float) or (isinstance(value, int) and bool(format_spec))
        return _localised(text) if is_figure else text


_FIELDS = _ReaderFields()


def _localised(number: str) -> str:
    return number.translate({ord(","): get_format("THOUSAND_SEPARATOR"), ord("."): get_format("DECIMAL_SEPARATOR")})
