"""Resumable uploads: a piece that is stored need not be sent again.

A piece is stored before the upload's offset moves. Bytes that a killed process wrote beyond the offset are overwritten.
In a bucket each piece is an object, so that the pieces can come to different machines.
"""

import errno
import hashlib
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.core import audit, storage
from annotation.core.errors import Conflict, DomainError, Missing
from annotation.core.membership.access import require_role
from annotation.models import ImportJob, Membership, Project, Upload
from annotation.models.upload import UPLOADS
from prm.messages import Message

ABANDONED_AFTER = timedelta(days=3)
SPARE_BYTES = 512 * 2**20  # of the disk, reserved for the database
CHECKSUMS = ("sha1", "sha256")
_NAME = re.compile("[0-9a-f]{32}")  # of a file that was uploaded; the folder may hold others


class TooLarge(DomainError):
    """The file has more bytes than the operator allows, or than were announced."""

    status = 413


class NoSpace(DomainError):
    """The disk is full."""

    status = 507


class Busy(DomainError):
    """Another request is writing to the same upload."""

    status = 423


class Damaged(DomainError):
    """A piece does not match its checksum."""

    status = 460


@transaction.atomic
def begin_upload(*, by: User, project: Project, filename: str, size: int, fingerprint: str = "") -> Upload:
    """Begin the upload of a file of `size` bytes.

    Raises Forbidden, TooLarge (`upload_too_large`), NoSpace (`disk_full`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    if size > settings.MAX_UPLOAD_BYTES:
        raise _too_large(filename)
    upload = Upload.objects.create(
        project=project, by=by, filename=filename[:300], fingerprint=fingerprint[:300], size=size
    )
    if not storage.begin_file(upload.key, size + SPARE_BYTES):
        raise _no_space(filename)
    audit.record(by=by, action="upload.begin", target=upload, after={"bytes": size})
    return upload


def find_upload(*, by: User, upload: uuid.UUID) -> Upload:
    """The caller's own upload. Raises Missing (`upload_not_found`), also if it was discarded or imported."""
    row = Upload.objects.select_related("project").filter(pk=upload, by=by).first()
    if row is None:
        raise _not_found(upload)
    require_role(by, row.project, Membership.Role.MANAGER)
    return row


def take_uploads(*, by: User, project: Project, uploads: Sequence[uuid.UUID]) -> list[tuple[str, str]]:
    """The place and the name of each file, whose upload ends; call it inside the transaction that uses the files.

    Raises Missing (`upload_not_found`), Forbidden, DomainError (`upload_unfinished`).
    """
    rows = Upload.objects.select_for_update().filter(pk__in=uploads, by=by, project=project).order_by("pk").in_bulk()
    if missing := [upload for upload in uploads if upload not in rows]:
        raise _not_found(missing[0])
    require_role(by, project, Membership.Role.MANAGER)
    for row in rows.values():
        if row.offset < row.size:
            values = {"filename": row.filename, "offset": row.offset, "size": row.size}
            raise DomainError(Message("upload_unfinished", **values))
    return [_take(rows[upload]) for upload in dict.fromkeys(uploads)]


def append_piece(
    *, by: User, upload: uuid.UUID, offset: int, pieces: Iterable[bytes], checksum: tuple[str, bytes] | None = None
) -> Upload:
    """Write the received bytes at `offset` and return the upload with its new offset.

    If the connection breaks, received bytes stay, unless a checksum (algorithm, digest) covers only the whole piece.
    Raises Conflict (`wrong_offset`), TooLarge (`upload_too_long`), NoSpace (`disk_full`), Busy (`upload_busy`), Damaged
    (`checksum_mismatch`), DomainError (`unknown_checksum`), and as `find_upload`; the offset then stays.
    """
    if checksum and checksum[0] not in CHECKSUMS:
        raise DomainError(Message("unknown_checksum", known=" or ".join(CHECKSUMS)))
    with _writing(find_upload(by=by, upload=upload)) as addition:
        row = find_upload(by=by, upload=upload)  # again under the lock: another request may have moved its offset
        if offset != row.offset:
            raise _wrong_offset(row)
        addition.begin(offset)
        digest = hashlib.new(checksum[0]) if checksum else None
        try:
            for piece in pieces:
                if row.offset + len(piece) > row.size:
                    raise TooLarge(Message("upload_too_long", n=row.size, filename=row.filename))
                addition.file.write(piece)
                row.offset += len(piece)
                if digest:
                    digest.update(piece)
        except ConnectionError:
            if digest:
                raise
        if checksum and digest and digest.digest() != checksum[1]:
            raise Damaged(Message("checksum_mismatch"))
        row.pieces += addition.store()
        row.touched_at = timezone.now()
        unchanged = Upload.objects.filter(pk=upload, offset=offset)
        if not unchanged.update(offset=row.offset, pieces=row.pieces, touched_at=row.touched_at):
            raise _wrong_offset(find_upload(by=by, upload=upload))  # unless it was discarded while the piece came
    return row


@transaction.atomic
def discard_upload(*, by: User, upload: uuid.UUID) -> None:
    """Delete an upload. Raises as `find_upload`."""
    row = find_upload(by=by, upload=upload)
    audit.record(by=by, action="upload.discard", target=row)
    key = row.key
    row.delete()
    transaction.on_commit(lambda: storage.remove(key))


def unfinished_uploads(*, by: User, project: Project) -> list[Upload]:
    """The user's unfinished uploads into a project, latest first."""
    return list(Upload.objects.filter(project=project, by=by))


def sweep_uploads() -> int:
    """Delete abandoned uploads and orphaned files; returns the number of both."""
    before = timezone.now() - ABANDONED_AFTER
    swept = 0
    abandoned = Upload.objects.filter(touched_at__lt=before)
    for upload in abandoned:
        if abandoned.filter(pk=upload.pk).delete()[0]:  # unless it was continued or imported in the meantime
            storage.remove(upload.key)
            swept += 1
    for name, changed in storage.stored_below(UPLOADS).items():
        key, old = f"{UPLOADS}/{name}", _NAME.fullmatch(name) and changed < before
        if old and not Upload.objects.filter(pk=name).exists() and not _is_wanted(key):
            storage.remove(key)
            swept += 1
    return swept


def _is_wanted(key: str) -> bool:
    """Whether an import reads the file, or failed so recently that a person may retry it."""
    jobs = ImportJob.objects.filter(path=storage.place_of(key))
    recent = timezone.now() - ABANDONED_AFTER
    return jobs.filter(state__in=ImportJob.LIVE).exists() or jobs.filter(finished_at__gt=recent).exists()


def _take(upload: Upload) -> tuple[str, str]:
    place = storage.place_of(upload.key)
    storage.seal(upload.key, upload.pieces)
    upload.delete()
    return place, upload.filename


def store_file(*, pieces: Iterable[bytes], filename: str) -> str:
    """Store a file from one request; returns its place. Raises TooLarge (`upload_too_large`), NoSpace (`disk_full`)."""
    key = f"{UPLOADS}/{uuid.uuid4().hex}"
    path = storage.path_of(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with _report_disk_full(filename), path.open("xb") as out:
            for piece in pieces:
                out.write(piece)
                if out.tell() > settings.MAX_UPLOAD_BYTES:
                    raise _too_large(filename)
            out.flush()
            os.fsync(out.fileno())
        storage.publish(key)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return storage.place_of(key)


@contextmanager
def _writing(upload: Upload) -> Iterator[storage.Addition]:
    """An addition to the upload's file. Raises NoSpace if the disk is full."""
    try:
        with _report_disk_full(upload.filename), storage.adding(upload.key) as addition:
            yield addition
    except BlockingIOError:
        raise Busy(Message("upload_busy", filename=upload.filename)) from None
    except FileNotFoundError:
        raise Missing(Message("upload_gone", filename=upload.filename), code="upload_not_found") from None


@contextmanager
def _report_disk_full(filename: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _no_space(filename) from error


def _wrong_offset(upload: Upload) -> Conflict:
    message = Message("wrong_offset", filename=upload.filename, offset=upload.offset)
    return Conflict(message, {"offset": upload.offset})


def _not_found(upload: uuid.UUID) -> Missing:
    return Missing(Message("no_such_upload", upload=upload), code="upload_not_found")


def _too_large(filename: str) -> TooLarge:
    most = settings.MAX_UPLOAD_BYTES // 2**20
    return TooLarge(Message("upload_too_large", filename=filename, most=f"{most:,}"))


def _no_space(filename: str) -> NoSpace:
    return NoSpace(Message("disk_full", filename=filename))
