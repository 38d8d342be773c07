"""Answers, written whatever the request held that they quote."""

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import JSONRenderer


class AnyTextRenderer(JSONRenderer):
    """JSON in UTF-8. An answer that quotes half a surrogate pair, which UTF-8 cannot hold, is escaped to ASCII."""

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            return super().render(data, accepted_media_type, renderer_context)
        except UnicodeEncodeError:
            return _Escaped().render(data, accepted_media_type, renderer_context)


class _Escaped(JSONRenderer):
    ensure_ascii = True
