"""Reads and atomically writes bytes, JSON and JSON Lines; locks folders for one writing process."""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, TypeVar

import msgspec

from prm.errors import DataError, FolderInUseError, ModelFileError
from prm.faults import UNDECODABLE, sentence_of
from prm.messages import Message

LOCK_FILE = ".lock"
T = TypeVar("T")


def write_atomic(path: Path, content: bytes) -> None:
    """Replace `path` by `content`, and create its folder if necessary."""
    with replacing(path) as out:
        out.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when it is complete; after an error it is deleted and `path` unchanged.

    A link stays and its target is replaced. A device or a pipe, such as /dev/stdout, is written as it is.
    """
    try:
        if path.exists() and not path.is_file():
            with open(path, "wb") as out:
                yield out
        else:
            with _replacing(path.resolve() if path.is_symlink() else path) as out:
                yield out
    except OSError as error:  # writing does not name the file
        error.filename = error.filename or str(path)
        raise


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    try:
        with open(partial, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def check_new_folder(out: Path) -> None:
    """Raise ModelFileError unless `out` is an empty folder or does not exist."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise ModelFileError(Message("output_folder_not_empty", out=out))


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder that becomes `out` when it is complete; after an error nothing is left. Raises as `check_new_folder`."""
    check_new_folder(out)
    if out.exists():  # perhaps a mounted one, which cannot be replaced
        try:
            yield out
        except BaseException:
            for path in out.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            raise
        return
    partial = out.with_name(out.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)  # of a process that was killed
    partial.mkdir(parents=True)
    try:
        yield partial
        partial.replace(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_json(path: Path, record: object) -> None:
    """Replace `path` by the record as indented JSON; of a Message, its text."""
    write_atomic(path, msgspec.json.format(msgspec.json.encode(record, enc_hook=str), indent=2) + b"\n")


def read_json(path: Path, kind: type[T]) -> T:
    """The record in a JSON file; raises DataError naming file and field."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise DataError(Message("path_error", path=path, error=error.strerror)) from error
    except UNDECODABLE as error:
        raise DataError(Message("path_error", path=path, error=sentence_of(error, kind=kind))) from error


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to `folder` until the block ends, and create it if necessary.

    The kernel releases the lock when the process ends in any way. Raises FolderInUseError naming the holder, and
    DataError if it is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise DataError(Message("path_is_file", path=folder))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK_FILE
    with _locked(path) as lock:
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _locked(path: Path) -> TextIO:
    """The locked lock file. If its holder removed it between opening and locking, it is opened again."""
    while True:
        lock = open(path, "a+", encoding="ascii")  # noqa: SIM115 (the caller closes it)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(lock.fileno()), path.stat()):
                return lock
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "?"
            lock.close()
            raise FolderInUseError(Message("folder_in_use", folder=path.parent, pid=holder)) from None
        lock.close()


def read_records(path: Path | str, kind: type[T]) -> Iterator[T]:
    """Stream the records of a file without blank lines; raises DataError naming file, line and field."""
    decoder = msgspec.json.Decoder(kind)
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield decoder.decode(line)
            except UNDECODABLE as error:
                raise DataError(
                    Message("line_error", path=path, number=number, error=sentence_of(error, line, kind))
                ) from error


def write_records(path: Path | str, records: Iterable[object]) -> int:
    """Write one line per record, atomically replacing `path`; returns their number."""
    encoder = msgspec.json.Encoder(enc_hook=str)  # of a Message, its text
    count = 0
    with replacing(Path(path)) as out:
        for record in records:
            out.write(encoder.encode(record) + b"\n")
            count += 1
    return count


def _opened(path: Path | str) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise DataError(Message("path_error", path=path, error=error.strerror or error)) from error
