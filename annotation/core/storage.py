"""Files that machines share. Each file or folder has a key, such as `snapshots/1f.jsonl` or `models/project-1/run-2`.

Without STORAGE_URL, a key is a path below STATE_ROOT, and these functions cost nothing. With it, everything is in a
bucket, and STATE_ROOT holds copies: `fetch` brings one up to date, `publish` stores its changes.

In the bucket, `KEY/SHA256` is a piece of content, and `KEY/manifest.json` lists the pieces of each file. The manifest
is written last, so that nobody reads half of a file or of a folder. A copy has a record of what it shares with the
bucket. If both have changed, the bucket wins: the local change is of a worker that was taken for dead.

Old copies are deleted to stay below STORAGE_CACHE_GB, the least recently used first, unless a process holds them
(`holding`) or they have changes. All waits for a copy are by file locks, which end with their process.
"""

import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

import structlog
from django.conf import settings

from annotation.core.errors import DomainError
from annotation.core.storage_bucket import (
    MANIFEST,
    Files,
    Piece,
    bucket,
    delete_pieces,
    download,
    read_manifest,
    upload,
    write_manifest,
)
from annotation.core.storage_copies import (
    CacheFull,
    Record,
    copy_of,
    delete,
    files_at,
    is_same,
    is_unfinished,
    locked,
    make_room,
    read_record,
    record_path,
    write_record,
)
from annotation.core.storage_copies import (
    path_of as path_of,
)
from prm.messages import Message

STORED = "stored:"  # of places
MOST_TRIES = 5  # to read a file that others replace
PUBLISH_SECONDS = 30  # the least time between two publications of running work
REST = 10  # and at least this many times as long as the last one took

log = structlog.get_logger(__name__)
_ITEMS = ("snapshots/*", "uploads/*", "runs/*", "models/project-*/*", "models/exports/*", "models/imports/*")
_scope = threading.local()


def place_of(key: str) -> str:
    """The text that stands for an item among paths and addresses."""
    return f"{STORED}{key}"


def key_of(place: str) -> str:
    """The key of a stored item's place; "" for another place."""
    return place.removeprefix(STORED) if place.startswith(STORED) else ""


def fetch(key: str, name: str | None = None) -> Path:
    """The path of an item, after the local copy is brought up to date; with `name`, only that file of the folder.

    Nothing is there if the item does not exist. Raises StorageDown (`storage_unreachable`), CacheFull
    (`storage_cache_full`), DomainError (`stored_file_damaged`).
    """
    path = path_of(key)
    if not settings.STORAGE_URL:
        return path
    _hold(key)
    with locked(key, "sync"):
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


def open_stored(key: str) -> BufferedReader:
    """The file. Raises FileNotFoundError, and as `fetch`."""
    with holding():
        return fetch(key).open("rb")


def publish(key: str) -> None:
    """Store the changes of the local copy. Raises StorageDown (`storage_unreachable`)."""
    path = path_of(key)
    if not settings.STORAGE_URL or not path.exists():
        return
    with locked(key, "publish"):
        uploaded = _upload_changes(key, path)
        with locked(key, "sync"):
            record, stored = _read_both(key)
            changed = dict(stored)
            for name in [name for name in record if not (path / name).exists()]:
                if stored.get(name) == record[name].pieces:
                    del changed[name], record[name]
            for name, copy in uploaded.items():
                if _is_as_known(name, record, stored):
                    record[name], changed[name] = copy, copy.pieces
            if changed != stored:
                write_manifest(key, changed)
            write_record(key, record)
        delete_pieces(key, _pieces(stored) - _pieces(changed))
    with suppress(CacheFull):
        make_room(0)


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
        stored = read_manifest(key) or {}
        return {name: sum(piece.size for piece in pieces) for name, pieces in sorted(stored.items())}
    return {name: file.stat().st_size for name, file in files_at(path_of(key)).items()}


def stored_below(prefix: str) -> dict[str, datetime]:
    """The names of the items directly below a key, complete or not, and when each was last changed.

    Raises StorageDown (`storage_unreachable`).
    """
    if not settings.STORAGE_URL:
        folder = path_of(prefix)
        found = folder.iterdir() if folder.is_dir() else []
        return {path.name: datetime.fromtimestamp(path.stat().st_mtime).astimezone() for path in found}
    times: dict[str, datetime] = {}
    with bucket() as (fs, root):
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
            if not is_unfinished(path.name) and path.suffix != ".log":
                yield path.relative_to(path_of("")).as_posix()


def remove(key: str) -> None:
    """Delete an item. Raises StorageDown (`storage_unreachable`)."""
    if settings.STORAGE_URL:
        with locked(key, "sync"), bucket() as (fs, root):
            for address in (f"{root}/{key}/{MANIFEST}", f"{root}/{key}"):
                with suppress(FileNotFoundError):
                    fs.rm(address, recursive=True)
            record_path(key).unlink(missing_ok=True)
    delete(path_of(key))


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
            return [upload(self.key, Path(self.file.name))[0]]
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
        write_manifest(key, {"": [Piece(*piece) for piece in pieces]})


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
        held[0].enter_context(locked(key, "use", fcntl.LOCK_SH))
        held[1].add(key)


def _try_to_publish(key: str) -> float:
    """Publish, and return the seconds that it took; the next time may succeed, so an error is only logged."""
    started = time.monotonic()
    try:
        publish(key)
    except Exception as error:
        log.warning("not_published", key=key, error=str(error))
    return time.monotonic() - started


def _pieces(files: Files) -> set[str]:
    return {piece.sha256 for pieces in files.values() for piece in pieces}


def _read_both(key: str) -> tuple[Record, Files]:
    """The record of the copy, and the manifest; a copy of what was removed meanwhile has no record."""
    stored = read_manifest(key) or {}
    return (read_record(key) if stored else {}), stored


def _is_as_known(name: str, record: Record, stored: Files) -> bool:
    """Whether the bucket has the file that the copy was made of."""
    return stored.get(name) == (record[name].pieces if name in record else None)


def _upload_changes(key: str, path: Path) -> Record:
    """Upload the files that differ from the bucket's only because they were changed here."""
    with locked(key, "sync"):
        record, stored = _read_both(key)
    uploaded: Record = {}
    for name, file in files_at(path).items():
        with suppress(FileNotFoundError):  # deleted by now
            if _is_as_known(name, record, stored) and (name not in record or not is_same(record[name], file)):
                piece, status = upload(key, file)
                uploaded[name] = copy_of([piece], status)
    return uploaded


def _bring_up_to_date(key: str, path: Path, name: str | None) -> None:
    """Replace the files that the bucket has changed. Raises FileNotFoundError if a piece is gone."""
    record, stored = read_record(key), read_manifest(key) or {}
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
        make_room(sum(piece.size for pieces in missing.values() for piece in pieces), besides=key)
    try:
        for one, pieces in missing.items():
            download(key, pieces, path / one)
            record[one] = copy_of(pieces, (path / one).stat())
    finally:
        if record:
            write_record(key, record)
        else:
            record_path(key).unlink(missing_ok=True)
