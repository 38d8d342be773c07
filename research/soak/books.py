"""The files of a client: an outbox of submissions to send, and a ledger of acknowledged ones."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from annotation.work.labelling.payload import Submission


class Entry(msgspec.Struct):
    """The response to a submission: the id of the stored annotation, or the code of the error."""

    submission_id: str
    solution: int
    payload_hash: str
    person: str
    annotation: int | None = None
    refused: str = ""


class Outbox:
    """Submissions that are not acknowledged; each is on disk before it is sent."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder / "outbox" / name
        self._folder.mkdir(parents=True, exist_ok=True)

    def put(self, submission: Submission) -> None:
        path = self._path(submission)
        partial = path.with_suffix(".partial")
        _write_through(partial, msgspec.json.encode(submission), "wb")
        partial.replace(path)

    def waiting(self) -> list[Submission]:
        """The waiting submissions, the oldest first."""
        files = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        return [msgspec.json.decode(path.read_bytes(), type=Submission) for path in files]

    def remove(self, submission: Submission) -> None:
        self._path(submission).unlink(missing_ok=True)

    def _path(self, submission: Submission) -> Path:
        return self._folder / f"{submission.submission_id}.json"


class Ledger:
    """An append-only file for each client. A line that a kill cut short has had no effect."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / "ledger" / f"{name}.jsonl"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if self._path.exists() and not self._path.read_bytes().endswith(b"\n"):
            _write_through(self._path, b"\n", "ab")

    def write(self, entry: Entry) -> None:
        _write_through(self._path, msgspec.json.encode(entry) + b"\n", "ab")


def read_ledgers(folder: Path) -> list[Entry]:
    """The responses to all clients, one for each submission."""
    entries = {entry.submission_id: entry for path in (folder / "ledger").glob("*.jsonl") for entry in _entries(path)}
    return list(entries.values())


def _entries(path: Path) -> Iterator[Entry]:
    for line in path.read_bytes().splitlines():
        try:
            yield msgspec.json.decode(line, type=Entry)
        except msgspec.DecodeError:
            continue


def _write_through(path: Path, content: bytes, mode: str) -> None:
    with path.open(mode) as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
