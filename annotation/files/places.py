"""Places of files: a path on this machine, an address that fsspec opens (`s3://bucket/a.jsonl`), or a stored file.

People can name files below the roots that the operator allows for reading (settings.IMPORT_ROOTS) or for writing
(settings.EXPORT_ROOTS), commands any file. An address is stored without credentials, which come from the root above it,
else from the environment.
"""

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from django.conf import settings

from annotation.core import storage
from annotation.core.errors import DomainError, Missing
from annotation.models.upload import UPLOADS
from prm.messages import Message

MAX_FILES = 10_000
Roots = dict[str, dict[str, Any]]


def place_below(root: str, path: str) -> str:
    """The place of `path` (a file, folder or pattern) below an import root.

    Raises Missing (`import_root_not_found`), DomainError (`bad_path`).
    """
    return _below(settings.IMPORT_ROOTS, root, path)


def target_below(root: str, path: str) -> str:
    """The place of the folder `path` below an export root. Raises as `place_below`."""
    return _below(settings.EXPORT_ROOTS, root, path).rstrip("/")


def _below(known: Roots, root: str, path: str) -> str:
    if root not in known:
        raise Missing(
            Message("import_root_not_found", root=root, known=", ".join(known) or Message("none")),
        )
    url = known[root]["url"]
    parts = path.strip("/").split("/")
    encoded = url.startswith(("http://", "https://")) and any(sign in path for sign in "%?#\\")
    if ".." in parts or "::" in path or "\0" in path or encoded:
        raise DomainError(Message("bad_path", path=path, root=root))
    return _local(f"{url.rstrip('/')}/{path.strip('/')}")


def find_files(place: str, *, below: str = "") -> list[str]:
    """The files at a place, sorted: a file, all files in a folder, or those that match a pattern; without hidden files.

    With `below`, the name of a root, files outside of it are left out, wherever links lead. Raises Missing
    (`file_not_found`), DomainError (`too_many_files`, `unreachable`).
    """
    try:
        fs, path = _system(_local(place))
        paths = [path] if fs.isfile(path) else fs.glob(path) if _is_pattern(path) else fs.find(path)
        files = [fs.unstrip_protocol(file) for file in paths if not _is_hidden(file, path) and fs.isfile(file)]
    except Exception as error:  # each storage has its own errors
        raise DomainError(Message("unreachable", place=place, reason=_describe_error(error))) from error
    places = sorted(_local(file) for file in files)
    if below:
        places = [file for file in places if _is_below(file, settings.IMPORT_ROOTS[below]["url"])]
    if not places:
        raise Missing(Message("file_not_found", place=place))
    if len(places) > MAX_FILES:
        raise DomainError(Message("too_many_files", n=len(places), place=place, max_files=MAX_FILES))
    return places


@contextmanager
def open_place(place: str) -> Iterator[BinaryIO]:
    """Open a place as a seekable file. Raises every error of the storage as OSError."""
    if key := storage.key_of(place):
        with storage.open_stored(key) as file:
            yield file
        return
    if not is_address(place):
        with Path(place).open("rb") as file:
            yield file
        return
    try:
        fs, path = _system(place)
        remote = fs.open(path, "rb")
    except Exception as error:  # each storage has its own errors
        raise _as_os_error(error) from error
    with remote:
        yield cast(BinaryIO, _Remote(remote))


def write_place(place: str, pieces: Iterable[bytes]) -> int:
    """Write a file that appears only when it is complete, with the folders above it; returns its size in bytes.

    Raises DomainError (`target_not_writable`), and whatever making the pieces raises.
    """
    folder = storage.path_of(UPLOADS) if is_address(place) else Path(place).parent
    with _storing(place):
        folder.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=folder, suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as out:
            out.writelines(pieces)
            out.flush()
            os.fsync(out.fileno())
            size = out.tell()
        with _storing(place):
            _store(partial, place)
    finally:
        Path(partial).unlink(missing_ok=True)
    return size


def _store(partial: str, place: str) -> None:
    if not is_address(place):
        os.chmod(partial, 0o644)
        os.replace(partial, place)
        return
    fs, path = _system(place, settings.EXPORT_ROOTS)
    fs.makedirs(fs._parent(path), exist_ok=True)
    fs.put_file(partial, path)


@contextmanager
def _storing(place: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # each storage has its own errors
        reason = _describe_error(error)
        raise DomainError(Message("target_not_writable", place=place, reason=reason)) from error


def size_of(place: str) -> int:
    """The size of the file in bytes. Raises OSError if there is no such file."""
    if key := storage.key_of(place):
        sizes = storage.sizes(key)
        if not sizes:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), key)
        return sizes[""]
    if not is_address(place):
        return Path(place).stat().st_size
    try:
        fs, path = _system(place)
        return int(fs.size(path) or 0)
    except Exception as error:  # each storage has its own errors
        raise _as_os_error(error) from error


def resolved(place: Path | str) -> str:
    """The place as it is stored in the database, with the whole path of a local file."""
    return str(place) if is_address(str(place)) or storage.key_of(str(place)) else str(Path(place).resolve())


def is_address(place: str) -> bool:
    return "://" in place


class _Remote:
    """A remote file that raises every read error as OSError."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        try:
            return cast(bytes, self._file.read(size))
        except Exception as error:  # each storage has its own errors
            raise _as_os_error(error) from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _system(place: str, known: Roots | None = None) -> tuple[Any, str]:
    """The file system of a place and its path there, with the credentials of the root above it."""
    from fsspec.core import url_to_fs

    known = settings.IMPORT_ROOTS if known is None else known
    roots = [root for root in known.values() if _is_below(place, root["url"])]
    root = max(roots, key=lambda root: len(root["url"]), default={})
    fs, path = url_to_fs(place, **root.get("options", {}))
    return fs, path


def _local(place: str) -> str:
    return os.path.abspath(place.removeprefix("file://")) if place.startswith("file://") else place


def _is_below(place: str, url: str) -> bool:
    root = _local(url)
    if not is_address(root):
        return not is_address(place) and Path(place).resolve().is_relative_to(Path(root).resolve())
    from fsspec.core import split_protocol, strip_protocol

    same = split_protocol(place)[0] == split_protocol(root)[0]
    return same and str(strip_protocol(place)).startswith(str(strip_protocol(root)).rstrip("/") + "/")


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in "*?[")


def _is_hidden(file: str, path: str) -> bool:
    below = file[len(path) :] if file.startswith(path) else Path(file).name
    return any(part.startswith(".") for part in below.split("/"))


def _as_os_error(error: Exception) -> OSError:
    return error if isinstance(error, OSError) and error.strerror else OSError(_describe_error(error))


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")
