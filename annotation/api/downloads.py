"""Streams files while they are written, whole or in the part that a request names."""

import re
from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile
from typing import IO

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from prm.formats.raw import CHUNK

_RANGE = re.compile(r"bytes\s*=\s*(\d{0,18})\s*-\s*(\d{0,18})\s*", re.ASCII | re.IGNORECASE)


def download(content: Iterable[bytes | str], *, name: str, content_type: str) -> StreamingHttpResponse:
    """A response that a browser saves under `name`, a plain ASCII file name."""
    response = StreamingHttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def in_part(request: HttpRequest, response: StreamingHttpResponse) -> HttpResponseBase:
    """The part of a response with a strong `ETag` that the request's `Range` names, so that a download can resume.

    The whole response (200) if the request names no range or several, or another tag as `If-Range`; 416 if the range
    begins after the end (RFC 9110, section 14). The size is only known at the end, so the file is first written to
    the disk, without the bytes being sent.
    """
    response["Accept-Ranges"] = "bytes"
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    if request.method != "GET" or not found or not any(found.groups()):
        return response
    if request.headers.get("If-Range", response["ETag"]) != response["ETag"]:
        return response
    first, last = found.groups()
    if first and last and int(last) < int(first):
        return response
    file = TemporaryFile()  # noqa: SIM115 - the response closes it
    file.writelines(response)
    size = file.tell()
    begin = int(first) if first else max(0, size - int(last))
    end = min(size, int(last) + 1) if first and last else size
    if begin >= size:
        file.close()
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    file.seek(begin)
    headers = {
        **response.headers,
        "Content-Range": f"bytes {begin}-{end - 1}/{size}",
        "Content-Length": str(end - begin),
    }
    return StreamingHttpResponse(_pieces(file, end - begin), status=206, headers=headers)


def _pieces(file: IO[bytes], length: int) -> Iterator[bytes]:
    with file:
        while piece := file.read(min(CHUNK, length)):
            length -= len(piece)
            yield piece
