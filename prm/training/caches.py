"""A content-addressed disk cache for expensive results: token ids, and features of a frozen backbone.

It is one SQLite file, so entries are written completely or not at all, several processes on one machine can share it,
and the least recently used entries are evicted when it is full. Losing it costs only time: corrupt entries are computed
again, and a corrupt file is replaced.
"""

import hashlib
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

CACHE_FILE = "cache.sqlite"
DEFAULT_LIMIT = 8 << 30  # bytes
KEYS_A_QUERY = 500
WAIT_SECONDS = 20.0
SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, digest BLOB NOT NULL, used REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS entry_by_use ON entry (used, id, size);
CREATE TABLE IF NOT EXISTS content (id INTEGER PRIMARY KEY REFERENCES entry, value BLOB NOT NULL);
CREATE TRIGGER IF NOT EXISTS content_goes AFTER DELETE ON entry BEGIN DELETE FROM content WHERE id = OLD.id; END;
"""
EVICT = """
DELETE FROM entry WHERE id IN (
    SELECT id FROM (SELECT id, sum(size) OVER (ORDER BY used DESC, id DESC) AS kept FROM entry) WHERE kept > ?
)
"""
T = TypeVar("T")


def content_key(*parts: bytes | str) -> bytes:
    """A unique key of the parts: SHA-256 of each part preceded by its length."""
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)
    return digest.digest()


class Cache:
    """Values by content key in `folder`, at most `limit` bytes of them."""

    def __init__(self, folder: Path, limit: int = DEFAULT_LIMIT) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.limit = folder / CACHE_FILE, limit

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values that are present and intact."""
        entries: dict[bytes, bytes] = {}
        for start in range(0, len(keys), KEYS_A_QUERY):
            part = keys[start : start + KEYS_A_QUERY]
            entries |= self._attempt(partial(_read, keys=part), dict[bytes, bytes]())
        return entries

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Store the values, and evict the least recently used ones beyond the limit."""
        self._attempt(partial(_write, entries=entries, limit=self.limit), None)

    def _attempt(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """The result of `work`; `otherwise` if the disk is full, the file is locked for too long, or it is corrupt."""
        try:
            file = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)
            try:
                with suppress(sqlite3.OperationalError):  # SQLite does not wait if another process switches the mode
                    file.execute("PRAGMA journal_mode=WAL")
                file.executescript(SCHEMA)
                with file:
                    # A read also writes, and a read transaction cannot always be upgraded.
                    file.execute("BEGIN IMMEDIATE")
                    return work(file)
            finally:
                file.close()
        except sqlite3.OperationalError:
            return otherwise
        except sqlite3.DatabaseError:
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(CACHE_FILE + suffix).unlink(missing_ok=True)
            return otherwise


def _read(file: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    entries: dict[bytes, bytes] = {}
    corrupt: list[tuple[int]] = []
    used: list[tuple[float, int]] = []
    marks = ",".join("?" * len(keys))
    query = f"SELECT key, digest, value, entry.id FROM entry JOIN content USING (id) WHERE key IN ({marks})"
    for key, digest, value, number in file.execute(query, keys):
        if _digest(value) == digest:
            entries[key] = value
            used.append((time.time(), number))
        else:
            corrupt.append((number,))
    file.executemany("UPDATE entry SET used = ? WHERE id = ?", used)
    file.executemany("DELETE FROM entry WHERE id = ?", corrupt)
    return entries


def _write(file: sqlite3.Connection, entries: Mapping[bytes, bytes], limit: int) -> None:
    for key, value in entries.items():
        row = (key, len(value), _digest(value), time.time())
        file.execute("DELETE FROM entry WHERE key = ?", (key,))
        number = file.execute("INSERT INTO entry (key, size, digest, used) VALUES (?, ?, ?, ?)", row).lastrowid
        file.execute("INSERT INTO content (id, value) VALUES (?, ?)", (number, value))
    (size,) = file.execute("SELECT coalesce(sum(size), 0) FROM entry").fetchone()
    if size > limit:
        file.execute(EVICT, (limit,))


def _digest(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=16).digest()
