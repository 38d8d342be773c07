"""Request bodies, read only up to a size and a depth."""

import io
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, JSONParser

from prm.formats.reading import MAX_DEPTH, is_deeper


def within_bounds(parser_context: Mapping[str, Any] | None) -> None:
    """Raises RequestDataTooBig. Without its length a body is not read at all, so the header can be relied on."""
    length = int(parser_context["request"].META.get("CONTENT_LENGTH") or 0) if parser_context else 0
    if length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        raise RequestDataTooBig


class BoundedJSONParser(JSONParser):
    """JSON in UTF-8, up to DATA_UPLOAD_MAX_MEMORY_SIZE bytes and MAX_DEPTH levels: DRF bounds neither."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Raises RequestDataTooBig before anything is read, and ParseError."""
        within_bounds(parser_context)
        content = stream.read()
        try:
            value: Any = super().parse(io.BytesIO(content), media_type, {"encoding": "utf-8"})
        except RecursionError:
            raise _too_deep() from None
        if content.count(b"[") + content.count(b"{") > MAX_DEPTH and is_deeper(value, MAX_DEPTH):
            raise _too_deep()
        return value


def _too_deep() -> ParseError:
    return ParseError(_("The JSON of this request is nested more than %(n)s levels deep.") % {"n": MAX_DEPTH})


class LinesParser(BaseParser):
    """JSON Lines up to the same size, left as bytes: who reads them answers each line by itself."""

    media_type = "application/x-ndjson"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """A stream of the bytes. Raises RequestDataTooBig before anything is read."""
        within_bounds(parser_context)
        return io.BytesIO(stream.read())


class XMLParser(LinesParser):
    """XML, left as bytes."""

    media_type = "application/xml"
