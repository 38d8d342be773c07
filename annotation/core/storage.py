"""Files that machines share. Each file or folder has a key, such as `snapshots/1f.jsonl` or `models/project-1/run-2`.

Without STORAGE_URL, a key is a path below STATE_ROOT, and these functions cost nothing. With it, everything is in a
bucket, and STATE_ROOT holds copies: `fetch` brings one up to date, `publish` stores its changes.

In the bucket, `KEY/SHA256` is a piece of content, and `KEY/manifest.json` lists the pieces of each file. The manifest
is written last, so that nobody reads half of a file or of a folder. A copy has a record of what it shares with the
bucket. If both have changed, the bucket wins: the local change is of a worker that was taken for dead.

Old copies are deleted to stay below STORAGE_CACHE_GB, the least recently used first, unless a process holds them
(`holding`) or they have changes. All waits for a copy are by file locks, which end with their process.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.parse import quote, unquote

import msgspec
import structlog
from django.conf import settings

from annotation.core.errors import DomainError
from prm.messages import Message

STORED = "stored:"  # of places
MANIFEST = "manifest.json"
BLOCK = 8 * 2**20  # bytes in memory of a file that is transferred
MOST_TRIES = 5  # to read or write a file that others replace
PUBLISH_SECONDS = 30  # the least time between two publications of running work
REST = 10  # and at least this many times as long as the last one took

log = structlog.get_logger(__name__)
_ITEMS = ("snapshots/*", "uploads/*", "runs/*", "models/project-*/*", "models/exports/*", "models/imports/*")
_FULL = (errno.ENOSPC, errno.EDQUOT)
_scope = threading.local()


class Piece(NamedTuple):
    """A part of a file: the SHA-256 of its content, which names it, and its size in bytes."""

    sha256: str
    size: int


class StorageDown(DomainError):
    """The bucket does not answer."""

    status = 503


class CacheFull(DomainError):
    """The copies in use leave no room for another."""

    status = 507


Files = dict[str, list[Piece]]  # by path in the folder; of a file, under ""


class _Copy(msgspec.Struct):
    """A file that equals the bucket's, as long as it has this size and time."""

    pieces: list[Piece]
    size: int
    mtime_ns: int


_Record = dict[str, _Copy]


def place_of(key: str) -> str:
    """The text that stands for an item among paths and addresses."""
    return f"{STORED}{key}"


def key_of(place: str) -> str:
    """The key of a stored item's place; "" for another place."""
    return place.removeprefix(STORED) if place.startswith(STORED) else ""


def path_of(key: str) -> Path:
    """The path of an item on this machine, whether or not it is there."""
    path: Path = settings.STATE_ROOT / key
    return path


def fetch(key: str, name: str | None = None) -> Path:
    """The path of an item, after the local copy is brought up to date; with `name`, only that file of the folder.

    Nothing is there if the item does not exist. Raises StorageDown (`storage_unreachable`), CacheFull
    (`storage_cache_full`), DomainError (`stored_file_damaged`).
    """
    path = path_of(key)
    if not settings.STORAGE_URL:
        return path
    _hold(key)
    with _locked(key, "sync"):
        for _ in range(MOST_TRIES):
            try:
                _bring_up_to_date(key, path, name)
                return path
            except FileNotFoundError:  # another machine has published since the manifest was read
                continue
        raise DomainError(Message("stored_file_damaged", key=key))


def fetch_path(path: Path) -> Path:
    """As `fetch`, by the path of the item."""
    return fetch(path.relative_to(path_of("")).as_posix())


def open_stored(key: str, name: str | None = None) -> BufferedReader:
    """The file, or the file `name` of the folder. Raises FileNotFoundError, and as `fetch`."""
    with holding():
        return (fetch(key, name) / (name or "")).open("rb")


def publish(key: str) -> None:
    """Store the changes of the local copy. Raises StorageDown (`storage_unreachable`)."""
    path = path_of(key)
    if not settings.STORAGE_URL or not path.exists():
        return
    with _locked(key, "publish"):
        uploaded = _upload_changes(key, path)
        with _locked(key, "sync"):
            record, stored = _read_both(key)
            changed = dict(stored)
            for name in [name for name in record if not (path / name).exists()]:
                if stored.get(name) == record[name].pieces:
                    del changed[name], record[name]
            for name, copy in uploaded.items():
                if _is_as_known(name, record, stored):
                    record[name], changed[name] = copy, copy.pieces
            if changed != stored:
                _write_manifest(key, changed)
            _write_record(key, record)
        _delete_pieces(key, _names(stored) - _names(changed))
    with suppress(CacheFull):
        _make_room(0)


@contextmanager
def publishing(key: str) -> Iterator[Callable[[], None]]:
    """Publish the item after the block, also after a failure, and now and then on calls of the yielded function."""
    if not settings.STORAGE_URL:
        yield lambda: None
        return
    with ThreadPoolExecutor(1, thread_name_prefix="publish") as pool:
        running: Future[float] | None = None
        due = time.monotonic() + PUBLISH_SECONDS

        def publish_soon() -> None:
            nonlocal running, due
            if running is not None and running.done():
                due = time.monotonic() + max(PUBLISH_SECONDS, REST * running.result())
                running = None
            if running is None and time.monotonic() >= due:
                running = pool.submit(_try_to_publish, key)

        try:
            yield publish_soon
        except BaseException:
            pool.submit(_try_to_publish, key)
            raise
    publish(key)


def sizes(key: str) -> dict[str, int]:
    """The size of each file of the item in bytes, by its path in the folder ("" for a file); {} if nothing is there.

    Raises StorageDown (`storage_unreachable`).
    """
    if settings.STORAGE_URL:
        stored = _read_manifest(key) or {}
        return {name: sum(piece.size for piece in pieces) for name, pieces in sorted(stored.items())}
    return {name: file.stat().st_size for name, file in _files_at(path_of(key)).items()}


def stored_below(prefix: str) -> dict[str, datetime]:
    """The names of the items directly below a key, complete or not, and when each was last changed.

    Raises StorageDown (`storage_unreachable`).
    """
    if not settings.STORAGE_URL:
        folder = path_of(prefix)
        found = folder.iterdir() if folder.is_dir() else []
        return {path.name: datetime.fromtimestamp(path.stat().st_mtime).astimezone() for path in found}
    times: dict[str, datetime] = {}
    with _bucket() as (fs, root):
        for address in fs.find(f"{root}/{prefix}"):
            name = str(address).removeprefix(f"{root}/{prefix}/").partition("/")[0]
            with suppress(FileNotFoundError):
                changed = fs.modified(address)
                times[name] = max(changed, times.get(name, changed))
    return times


def local_keys() -> Iterator[str]:
    """The keys of the items in the data folder."""
    for pattern in _ITEMS:
        for path in sorted(path_of("").glob(pattern)):
            if not _is_unfinished(path.name) and path.suffix != ".log":
                yield path.relative_to(path_of("")).as_posix()


def remove(key: str) -> None:
    """Delete an item. Raises StorageDown (`storage_unreachable`)."""
    if settings.STORAGE_URL:
        with _locked(key, "sync"), _bucket() as (fs, root):
            for address in (f"{root}/{key}/{MANIFEST}", f"{root}/{key}"):
                with suppress(FileNotFoundError):
                    fs.rm(address, recursive=True)
            _record_path(key).unlink(missing_ok=True)
    _delete(path_of(key))


def begin_file(key: str, size: int) -> bool:
    """Begin a file that comes in pieces; returns False if the disk has no space for `size` bytes."""
    path = path_of(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    if settings.STORAGE_URL:
        return True
    if shutil.disk_usage(path.parent).free < size:
        return False
    path.touch()
    return True


@dataclass(frozen=True)
class Addition:
    """Bytes to add to a file: write them to `file` after `begin`, and end with `store`."""

    key: str
    file: BinaryIO

    def begin(self, offset: int) -> None:
        """Add from `offset` on; what is there is overwritten."""
        if not settings.STORAGE_URL:
            self.file.truncate(offset)
            self.file.seek(offset)

    def store(self) -> list[Piece]:
        """Make the bytes durable; returns the pieces for `seal`. Raises StorageDown (`storage_unreachable`)."""
        self.file.flush()
        if settings.STORAGE_URL:
            return _upload(self.key, Path(self.file.name)).pieces
        os.fsync(self.file.fileno())
        return []


@contextmanager
def adding(key: str) -> Iterator[Addition]:
    """An addition to a file that was begun; without a bucket the only one at that time.

    Raises BlockingIOError if another process adds to it, FileNotFoundError if it is gone.
    """
    if settings.STORAGE_URL:
        folder = path_of(key).parent
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".partial") as partial:
            yield Addition(key, cast(BinaryIO, partial))
        return
    with path_of(key).open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield Addition(key, file)


def seal(key: str, pieces: Iterable[tuple[str, int]]) -> None:
    """Make a file of these pieces. Raises StorageDown (`storage_unreachable`)."""
    if settings.STORAGE_URL:
        _write_manifest(key, {"": [Piece(*piece) for piece in pieces]})


@contextmanager
def holding() -> Iterator[None]:
    """Keep each copy that this thread fetches in the block until its end."""
    outer = getattr(_scope, "held", None)
    with ExitStack() as stack:
        _scope.held = stack, set[str]()
        try:
            yield
        finally:
            _scope.held = outer


def _hold(key: str) -> None:
    held: tuple[ExitStack, set[str]] | None = getattr(_scope, "held", None)
    if held is not None and key not in held[1]:
        held[0].enter_context(_locked(key, "use", fcntl.LOCK_SH))
        held[1].add(key)


def _try_to_publish(key: str) -> float:
    """Publish, and return the seconds that it took; the next time may succeed, so an error is only logged."""
    started = time.monotonic()
    try:
        publish(key)
    except Exception as error:
        log.warning("not_published", key=key, error=str(error))
    return time.monotonic() - started


def _read_both(key: str) -> tuple[_Record, Files]:
    """The record of the copy, and the manifest; a copy of what was removed meanwhile has no record."""
    stored = _read_manifest(key) or {}
    return (_read_record(key) if stored else {}), stored


def _is_as_known(name: str, record: _Record, stored: Files) -> bool:
    """Whether the bucket has the file that the copy was made of."""
    return stored.get(name) == (record[name].pieces if name in record else None)


def _upload_changes(key: str, path: Path) -> _Record:
    """Upload the files that differ from the bucket's only because they were changed here."""
    with _locked(key, "sync"):
        record, stored = _read_both(key)
    uploaded: _Record = {}
    for name, file in _files_at(path).items():
        with suppress(FileNotFoundError):  # deleted by now
            if _is_as_known(name, record, stored) and (name not in record or not _is_same(record[name], file)):
                uploaded[name] = _upload(key, file)
    return uploaded


def _bring_up_to_date(key: str, path: Path, name: str | None) -> None:
    """Replace the files that the bucket has changed. Raises FileNotFoundError if a piece is gone."""
    record, stored = _read_record(key), _read_manifest(key) or {}
    for gone in record.keys() - stored.keys():
        (path / gone).unlink(missing_ok=True)
        del record[gone]
    wanted = stored if name is None else {name: stored[name]} if name in stored else {}
    missing = {
        one: pieces
        for one, pieces in wanted.items()
        if one not in record or record[one].pieces != pieces or not (path / one).exists()
    }
    if missing:
        _make_room(sum(piece.size for pieces in missing.values() for piece in pieces), besides=key)
    try:
        for one, pieces in missing.items():
            record[one] = _download(key, pieces, path / one)
    finally:
        if record:
            _write_record(key, record)
        else:
            _record_path(key).unlink(missing_ok=True)


def _download(key: str, pieces: list[Piece], target: Path) -> _Copy:
    """Write the verified pieces to a file that appears when it is complete. Raises FileNotFoundError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as out, _bucket() as (fs, root):
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
    return _copy_of(pieces, target.stat())


def _upload(key: str, file: Path) -> _Copy:
    """Store a file as one piece. Raises FileNotFoundError if the file is gone."""
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".") as folder:
        link = Path(folder) / "content"
        os.link(file, link)  # a program may replace the file during the transfer
        for _ in range(MOST_TRIES):
            status = link.stat()
            with link.open("rb") as content:
                sha256 = hashlib.file_digest(content, "sha256").hexdigest()
            with _writing() as (fs, root):
                fs.put_file(str(link), f"{root}/{key}/{sha256}")
            piece = _copy_of([Piece(sha256, status.st_size)], status)
            if _is_same(piece, link):
                return piece
    raise DomainError(Message("file_keeps_changing", key=key, name=file.name))


def _delete_pieces(key: str, names: Iterable[str]) -> None:
    with _bucket() as (fs, root):
        for name in names:
            with suppress(FileNotFoundError):
                fs.rm_file(f"{root}/{key}/{name}")


def _names(files: Files) -> set[str]:
    return {piece.sha256 for pieces in files.values() for piece in pieces}


def _read_manifest(key: str) -> Files | None:
    with _bucket() as (fs, root):
        try:
            return msgspec.json.decode(fs.cat_file(f"{root}/{key}/{MANIFEST}"), type=Files)
        except FileNotFoundError:
            return None


def _write_manifest(key: str, files: Files) -> None:
    with _writing() as (fs, root):
        fs.pipe_file(f"{root}/{key}/{MANIFEST}", msgspec.json.encode(files))


@contextmanager
def _bucket() -> Iterator[tuple[Any, str]]:
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
def _writing() -> Iterator[tuple[Any, str]]:
    """As `_bucket`, for a write, which finds nothing only if there is no bucket."""
    try:
        with _bucket() as place:
            yield place
    except FileNotFoundError as error:
        raise _down(error) from error


def _down(error: Exception) -> StorageDown:
    return StorageDown(Message("storage_unreachable", reason=f"{type(error).__name__}: {error}".rstrip(": ")))


def _files_at(path: Path) -> dict[str, Path]:
    """The finished files of an item, by their path in the folder."""
    if path.is_file():
        return {"": path}
    found = {file.relative_to(path): file for file in sorted(path.rglob("*"))}
    return {
        name.as_posix(): file
        for name, file in found.items()
        if file.is_file() and not file.is_symlink() and not any(map(_is_unfinished, name.parts))
    }


def _is_unfinished(part: str) -> bool:
    return part.startswith(".") or PurePosixPath(part).suffix == ".partial"


def _copy_of(pieces: list[Piece], status: os.stat_result) -> _Copy:
    return _Copy(pieces, status.st_size, status.st_mtime_ns)


def _is_same(copy: _Copy, file: Path) -> bool:
    status = file.stat()
    return (copy.size, copy.mtime_ns) == (status.st_size, status.st_mtime_ns)


def _cache_root() -> Path:
    folder: Path = settings.STATE_ROOT / "storage"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _record_path(key: str) -> Path:
    return _cache_root() / f"{quote(key, safe='')}.json"


def _read_record(key: str) -> _Record:
    with suppress(FileNotFoundError):
        return msgspec.json.decode(_record_path(key).read_bytes(), type=_Record)
    return {}


def _write_record(key: str, record: _Record) -> None:
    """Also marks the item as used now."""
    path = _record_path(key)
    partial = path.with_suffix(".partial")
    partial.write_bytes(msgspec.json.encode(record))
    partial.replace(path)


@contextmanager
def _locked(key: str, purpose: str, how: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold a lock of this machine. Raises BlockingIOError if `how` says not to wait."""
    with (_cache_root() / f"{quote(key, safe='')}.{purpose}").open("ab") as file:
        fcntl.flock(file, how)
        yield


def _make_room(size: int, besides: str = "") -> None:
    """Delete the least recently used copies until `size` bytes fit. Raises CacheFull."""
    most: int = settings.STORAGE_CACHE_BYTES
    records: list[tuple[float, int, str]] = []
    for path in _cache_root().glob("*.json"):
        with suppress(FileNotFoundError):
            copies: Mapping[str, _Copy] = msgspec.json.decode(path.read_bytes(), type=_Record)
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
        with _locked(key, "sync", at_once), _locked(key, "use", at_once):
            record = _read_record(key)
            files = _files_at(path)
            if any(name not in record or not _is_same(record[name], file) for name, file in files.items()):
                return False
            _record_path(key).unlink(missing_ok=True)
            _delete(path)
            return True
    except (BlockingIOError, FileNotFoundError):
        return False


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
