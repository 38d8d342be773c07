"""Request bodies, read only up to a size."""

import io
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from rest_framework.parsers import BaseParser, JSONParser


def within_bounds(parser_context: Mapping[str, Any] | None) -> None:
    """Raises RequestDataTooBig. Without its length a body is not read at all, so the header can be relied on."""
    length = int(parser_context["request"].META.get("CONTENT_LENGTH") or 0) if parser_context else 0
    if length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        raise RequestDataTooBig


class BoundedJSONParser(JSONParser):
    """JSON up to DATA_UPLOAD_MAX_MEMORY_SIZE bytes, which DRF leaves unwatched where it reads the stream itself."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Raises RequestDataTooBig before anything is read."""
        within_bounds(parser_context)
        return super().parse(stream, media_type, parser_context)


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
