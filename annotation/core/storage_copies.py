"""The copies of stored items on this machine: what each shares with the bucket, their locks, and the room they take."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

import msgspec
from django.conf import settings

from annotation.core.errors import DomainError
from annotation.core.storage_bucket import Piece
from prm.messages import Message


class CacheFull(DomainError):
    """The copies in use leave no room for another."""

    status = 507


class Copy(msgspec.Struct):
    """A file that equals the bucket's, as long as it has this size and time."""

    pieces: list[Piece]
    size: int
    mtime_ns: int


Record = dict[str, Copy]


def path_of(key: str) -> Path:
    """The path of an item on this machine, whether or not it is there."""
    path: Path = settings.STATE_ROOT / key
    return path


def files_at(path: Path) -> dict[str, Path]:
    """The finished files of an item, by their path in the folder."""
    if path.is_file():
        return {"": path}
    found = {file.relative_to(path): file for file in sorted(path.rglob("*"))}
    return {
        name.as_posix(): file
        for name, file in found.items()
        if file.is_file() and not file.is_symlink() and not any(map(is_unfinished, name.parts))
    }


def is_unfinished(part: str) -> bool:
    return part.startswith(".") or PurePosixPath(part).suffix == ".partial"


def copy_of(pieces: list[Piece], status: os.stat_result) -> Copy:
    return Copy(pieces, status.st_size, status.st_mtime_ns)


def is_same(copy: Copy, file: Path) -> bool:
    status = file.stat()
    return (copy.size, copy.mtime_ns) == (status.st_size, status.st_mtime_ns)


def read_record(key: str) -> Record:
    with suppress(FileNotFoundError):
        return msgspec.json.decode(record_path(key).read_bytes(), type=Record)
    return {}


def write_record(key: str, record: Record) -> None:
    """Also marks the item as used now."""
    path = record_path(key)
    partial = path.with_suffix(".partial")
    partial.write_bytes(msgspec.json.encode(record))
    partial.replace(path)


def record_path(key: str) -> Path:
    return _cache_root() / f"{quote(key, safe='')}.json"


@contextmanager
def locked(key: str, purpose: str, how: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold a lock of this machine. Raises BlockingIOError if `how` says not to wait."""
    with (_cache_root() / f"{quote(key, safe='')}.{purpose}").open("ab") as file:
        fcntl.flock(file, how)
        yield


def make_room(size: int, besides: str = "") -> None:
    """Delete the least recently used copies until `size` bytes fit. Raises CacheFull."""
    most: int = settings.STORAGE_CACHE_BYTES
    records: list[tuple[float, int, str]] = []
    for path in _cache_root().glob("*.json"):
        with suppress(FileNotFoundError):
            copies: Mapping[str, Copy] = msgspec.json.decode(path.read_bytes(), type=Record)
            records.append((path.stat().st_mtime, sum(copy.size for copy in copies.values()), unquote(path.stem)))
    used = sum(bytes for _, bytes, _ in records)
    for _, bytes, key in sorted(records):
        if used + size <= most:
            return
        if key != besides and _evict(key):
            used -= bytes
    if used + size > most:
        raise CacheFull(Message("storage_cache_full", size=size / 2**30, most=most / 2**30, used=used / 2**30))


def _evict(key: str) -> bool:
    """Delete a copy, unless a process holds it or it has changes; returns whether it was deleted."""
    path = path_of(key)
    try:
        at_once = fcntl.LOCK_EX | fcntl.LOCK_NB
        with locked(key, "sync", at_once), locked(key, "use", at_once):
            record = read_record(key)
            files = files_at(path)
            if any(name not in record or not is_same(record[name], file) for name, file in files.items()):
                return False
            record_path(key).unlink(missing_ok=True)
            delete(path)
            return True
    except (BlockingIOError, FileNotFoundError):
        return False


def delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _cache_root() -> Path:
    folder: Path = settings.STATE_ROOT / "storage"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
