"""Resumable uploads with the tus protocol (tus.io, version 1.0.0, with creation, checksum and termination).

`POST projects/SLUG/import-groups/` imports a complete upload.
"""

import base64
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import IO, Annotated, Any

from django.conf import settings
from django.http import UnreadablePostError
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row
from annotation.core.bounds import Count, about
from annotation.core.errors import DomainError
from annotation.core.membership.access import find_project
from annotation.files.uploads import (
    CHECKSUMS,
    append_piece,
    begin_upload,
    discard_upload,
    find_upload,
    unfinished_uploads,
)
from annotation.models import Membership, Upload
from prm.messages import Message

VERSION = "1.0.0"
PIECE = 256 * 1024


class UploadRow(Row):
    """An unfinished upload, which resumes at byte `offset`."""

    id: Annotated[uuid.UUID, about("The id of the upload.")]
    filename: str
    fingerprint: Annotated[str, about("A name that the client chose, to resume the upload by.")]
    size: Annotated[Count, about("The size of the file in bytes.")]
    offset: Annotated[Count, about("Number of bytes that have arrived.")]
    created_at: datetime
    touched_at: Annotated[datetime, about("When bytes last arrived.")]


class StreamParser(BaseParser):
    """A body of any size, left unread."""

    media_type = "application/offset+octet-stream"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return stream


def _header(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, OpenApiParameter.HEADER, required=True, description=description)


class Uploads(APIView):
    """The caller's unfinished uploads into a project."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(operation_id="list_uploads", responses=list[UploadRow])
    def get(self, request: Request, slug: str) -> Response:
        """The uploads that the caller can resume. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        return Response([UploadRow.of(upload) for upload in unfinished_uploads(by=caller(request), project=project)])

    @extend_schema(
        operation_id="begin_upload",
        request=None,
        responses={201: None},
        parameters=[
            _header("Upload-Length", "Bytes of the file."),
            _header("Upload-Metadata", "`filename BASE64`, and a `fingerprint BASE64` that identifies the file."),
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Start an upload. Its address is in `Location`. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        metadata = _metadata(request.headers.get("Upload-Metadata", ""))
        upload = begin_upload(
            by=caller(request),
            project=project,
            filename=metadata.get("filename", "") or "upload",
            size=_number(request, "Upload-Length"),
            fingerprint=metadata.get("fingerprint", ""),
        )
        address = request.build_absolute_uri(f"/api/v1/uploads/{upload.pk}/")
        return _answer(upload, status=201, headers={"Location": address})

    @extend_schema(exclude=True)
    def options(self, request: Request, *args: Any, **kwargs: Any) -> Response:  # type: ignore[override]
        """The capabilities of the server, as the protocol requires."""
        extensions = {"Tus-Version": VERSION, "Tus-Extension": "creation,checksum,termination"}
        limits = {"Tus-Max-Size": str(settings.MAX_UPLOAD_BYTES), "Tus-Checksum-Algorithm": ",".join(CHECKSUMS)}
        return Response(status=204, headers={"Tus-Resumable": VERSION} | extensions | limits)


class UploadDetail(APIView):
    """One upload."""

    scopes = {"HEAD": "admin", "PATCH": "admin", "DELETE": "admin"}
    parser_classes = (StreamParser,)

    @extend_schema(operation_id="get_upload_offset", responses={200: None})
    def head(self, request: Request, upload_id: uuid.UUID) -> Response:
        """The byte at which the upload resumes: `Upload-Offset`. Only for the sender."""
        return _answer(find_upload(by=caller(request), upload=upload_id), status=200)

    @extend_schema(
        operation_id="append_piece",
        request={"application/offset+octet-stream": OpenApiTypes.BINARY},
        responses={204: None},
        parameters=[_header("Upload-Offset", "The offset of the piece, which must be the upload's offset.")],
    )
    def patch(self, request: Request, upload_id: uuid.UUID) -> Response:
        """Upload bytes from `Upload-Offset` on, with an optional `Upload-Checksum`. Only for the sender."""
        upload = append_piece(
            by=caller(request),
            upload=upload_id,
            offset=_number(request, "Upload-Offset"),
            pieces=_pieces(request.data) if request.data else [],
            checksum=_checksum(request.headers.get("Upload-Checksum", "")),
        )
        return _answer(upload, status=204)

    @extend_schema(operation_id="discard_upload", request=None, responses={204: None})
    def delete(self, request: Request, upload_id: uuid.UUID) -> Response:
        """Delete the upload. Only for the sender."""
        discard_upload(by=caller(request), upload=upload_id)
        return Response(status=204, headers={"Tus-Resumable": VERSION})


def _answer(upload: Upload, *, status: int, headers: dict[str, str] | None = None) -> Response:
    place = {"Upload-Offset": str(upload.offset), "Upload-Length": str(upload.size), "Cache-Control": "no-store"}
    return Response(status=status, headers={"Tus-Resumable": VERSION} | place | (headers or {}))


def _pieces(stream: Any) -> Iterator[bytes]:
    try:
        while piece := stream.read(PIECE):
            yield piece
    except UnreadablePostError as error:
        raise ConnectionError(str(error)) from error


def _number(request: Request, header: str) -> int:
    value = request.headers.get(header, "")
    if not value.isdecimal() or len(value) > 18:
        raise DomainError(Message("not_a_byte_count", header=header), {"field": header}, code="invalid")
    return int(value)


def _metadata(header: str) -> dict[str, str]:
    pairs = [pair.strip().partition(" ") for pair in header.split(",") if pair.strip()]
    return {
        key: _decoded(value, "Upload-Metadata").decode("utf-8", "replace").replace("\0", "") for key, _, value in pairs
    }


def _checksum(header: str) -> tuple[str, bytes] | None:
    algorithm, _blank, digest = header.partition(" ")
    return (algorithm, _decoded(digest, "Upload-Checksum")) if header else None


def _decoded(value: str, header: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        raise DomainError(Message("not_base64", header=header), {"field": header}, code="invalid") from None
