"""Files that a reader sees whole: the old or the new, and never a part."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec


def write_atomic(path: Path, content: bytes) -> None:
    """Replace `path` by `content`, in a folder that is made where it is missing."""
    with replacing(path) as out:
        out.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when it is whole; after an error it is gone, and `path` is as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    try:
        with open(partial, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_json(path: Path, record: object) -> None:
    """Replace `path` by the record as JSON, laid out for people. What is a kind of `str` (`Said`) is text there."""
    write_atomic(path, msgspec.json.format(msgspec.json.encode(record, enc_hook=str), indent=2) + b"\n")
