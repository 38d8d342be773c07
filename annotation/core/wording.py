"""Messages in the reader's language: the sentence of a code is translated when it is shown.

Use `gettext` for texts that are shown at once, `Message` for errors and for texts that are stored.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.formats import get_format
from django.utils.translation import gettext, ngettext

from prm import messages
from prm.messages import SENTENCES, Fields, Message, from_json


def in_words(text: str) -> str:
    """The text in the reader's language; unchanged if it is no message of this release."""
    if not isinstance(text, Message) or text.code not in SENTENCES:
        return str(text)
    try:
        return _FIELDS.vformat(_translated(text), (), text.values)
    except (KeyError, ValueError, TypeError):
        return str(text)  # stored by another release, with other values than the sentence has now


def as_message(text: str) -> Message:
    """The text as a message. A text by an extension may have no code; it is then shown unchanged."""
    message = text if isinstance(text, Message) else from_json({"code": "", "values": {}, "text": text})
    assert isinstance(message, Message)
    return message


def read_message(kind: type[Message], value: Any) -> Message:
    """A message from its JSON; the `dec_hook` of structs with a message."""
    return as_message(from_json(value))


def message_of(state: Mapping[str, Any], name: str) -> str:
    """The text under a name in a JSON object, as a message if `messages` has its code and values."""
    return from_json(state.get("messages", {}).get(name) or state.get(name) or "")


def _translated(message: Message) -> str:
    sentence = SENTENCES[message.code]
    return gettext(sentence) if isinstance(sentence, str) else ngettext(*sentence, int(message.values["n"]))


def write_number(value: float, form: str) -> str:
    """The number in a format, with the separators of the active language."""
    separators = {ord(","): get_format("THOUSAND_SEPARATOR"), ord("."): get_format("DECIMAL_SEPARATOR")}
    return messages.write_number(value, form).translate(separators)


class _ReaderFields(Fields):
    """Formats messages and numbers in the active language."""

    write_number = staticmethod(write_number)

    def format_field(self, value: Any, format_spec: str) -> str:
        return in_words(value) if isinstance(value, Message) else super().format_field(value, format_spec)


_FIELDS = _ReaderFields()
