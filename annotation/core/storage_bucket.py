"""The bucket of the storage: its connection, the pieces of content, and the manifests that list them."""

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from django.conf import settings

from annotation.core.errors import DomainError
from prm.messages import Message

MANIFEST = "manifest.json"
BLOCK = 8 * 2**20  # bytes in memory of a file that is transferred
MOST_TRIES = 5  # to store a file that others change
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Piece(NamedTuple):
    """A part of a file: the SHA-256 of its content, which names it, and its size in bytes."""

    sha256: str
    size: int


class StorageDown(DomainError):
    """The bucket does not answer."""

    status = 503


Files = dict[str, list[Piece]]  # by path in the folder; of a file, under ""


@contextmanager
def bucket() -> Iterator[tuple[Any, str]]:
    """The bucket's file system and the path of the storage in it. Raises StorageDown, FileNotFoundError."""
    from fsspec.core import url_to_fs

    try:
        fs, root = url_to_fs(settings.STORAGE_URL, **{"use_listings_cache": False} | settings.STORAGE_OPTIONS)
        yield fs, root.rstrip("/")
    except (FileNotFoundError, DomainError):
        raise
    except Exception as error:  # each storage has its own errors
        if isinstance(error, OSError) and error.errno in _FULL:  # this machine's disk
            raise
        raise _down(error) from error


@contextmanager
def writing() -> Iterator[tuple[Any, str]]:
    """As `bucket`, for a write, which finds nothing only if there is no bucket."""
    try:
        with bucket() as place:
            yield place
    except FileNotFoundError as error:
        raise _down(error) from error


def read_manifest(key: str) -> Files | None:
    with bucket() as (fs, root):
        try:
            return msgspec.json.decode(fs.cat_file(f"{root}/{key}/{MANIFEST}"), type=Files)
        except FileNotFoundError:
            return None


def write_manifest(key: str, files: Files) -> None:
    with writing() as (fs, root):
        fs.pipe_file(f"{root}/{key}/{MANIFEST}", msgspec.json.encode(files))


def download(key: str, pieces: list[Piece], target: Path) -> None:
    """Write the verified pieces to a file that appears when it is complete. Raises FileNotFoundError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as out, bucket() as (fs, root):
            for piece in pieces:
                digest = hashlib.sha256()
                with fs.open(f"{root}/{key}/{piece.sha256}", "rb", block_size=BLOCK) as content:
                    while block := content.read(BLOCK):
                        digest.update(block)
                        out.write(block)
                if digest.hexdigest() != piece.sha256:
                    raise DomainError(Message("stored_file_damaged", key=key))
            out.flush()
            os.fsync(out.fileno())
        os.chmod(partial, 0o644)
        os.replace(partial, target)
    finally:
        Path(partial).unlink(missing_ok=True)


def upload(key: str, file: Path) -> tuple[Piece, os.stat_result]:
    """Store a file as one piece; returns it with the file's status. Raises FileNotFoundError if the file is gone."""
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".") as folder:
        link = Path(folder) / "content"
        os.link(file, link)  # a program may replace the file during the transfer
        for _ in range(MOST_TRIES):
            before = link.stat()
            with link.open("rb") as content:
                sha256 = hashlib.file_digest(content, "sha256").hexdigest()
            with writing() as (fs, root):
                fs.put_file(str(link), f"{root}/{key}/{sha256}")
            after = link.stat()
            if (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
                return Piece(sha256, after.st_size), after
    raise DomainError(Message("file_keeps_changing", key=key, name=file.name))


def delete_pieces(key: str, names: Iterable[str]) -> None:
    with bucket() as (fs, root):
        for name in names:
            with suppress(FileNotFoundError):
                fs.rm_file(f"{root}/{key}/{name}")


def _down(error: Exception) -> StorageDown:
    return StorageDown(Message("storage_unreachable", reason=f"{type(error).__name__}: {error}".rstrip(": ")))
