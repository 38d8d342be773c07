"""Streams files while they are written."""

from collections.abc import Iterable

from django.http import StreamingHttpResponse


def download(content: Iterable[bytes | str], *, name: str, content_type: str) -> StreamingHttpResponse:
    """A response that a browser saves under `name`, a plain ASCII file name."""
    response = StreamingHttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
