"""Responses as JSON, with messages in the reader's language."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from django.utils.functional import Promise
from rest_framework.renderers import BaseRenderer

from annotation.core.wording import in_words


class StructRenderer(BaseRenderer):
    """JSON in UTF-8. A response with half a surrogate pair, which UTF-8 cannot encode, is escaped to ASCII."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        if data is None:
            return b""
        try:
            return _ENCODER.encode(data)
        except UnicodeEncodeError:
            return json.dumps(msgspec.to_builtins(data, enc_hook=_in_reader_words)).encode()


def _in_reader_words(value: Any) -> str:
    """The translation of a message or a lazy string."""
    if isinstance(value, str | Promise):
        return str.__str__(in_words(value) if isinstance(value, str) else str(value))
    raise NotImplementedError(type(value))


_ENCODER = msgspec.json.Encoder(enc_hook=_in_reader_words)
