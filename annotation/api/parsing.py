"""Request bodies as bytes, up to a size limit. The views decode them."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from rest_framework.parsers import BaseParser


class JSONParser(BaseParser):
    """JSON, up to DATA_UPLOAD_MAX_MEMORY_SIZE bytes; `read_body` decodes it.

    A body without a length header is not read at all, so the header is reliable.
    """

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """The bytes. Raises RequestDataTooBig before anything is read."""
        length = int(parser_context["request"].META.get("CONTENT_LENGTH") or 0) if parser_context else 0
        if length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise RequestDataTooBig
        return stream.read()


class LinesParser(JSONParser):
    """JSON Lines. The view answers each line separately."""

    media_type = "application/x-ndjson"


class XMLParser(JSONParser):
    """XML."""

    media_type = "application/xml"
