"""Files that a reader sees whole: the old or the new, and never a part."""

import os
from pathlib import Path

import msgspec


def write_atomic(path: Path, content: bytes) -> None:
    """Replace `path` by `content`, in a folder that is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    with open(partial, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    partial.replace(path)


def write_json(path: Path, record: object) -> None:
    """Replace `path` by the record as JSON, laid out for people. What is a kind of `str` (`Said`) is text there."""
    write_atomic(path, msgspec.json.format(msgspec.json.encode(record, enc_hook=str), indent=2) + b"\n")
