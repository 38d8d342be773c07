"""One owner for each folder of embedded servers, by a lock that ends with its process."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from launch.errors import LaunchError


@contextmanager
def sole_owner(root: Path, *, note: str = "") -> Iterator[None]:
    """Own `root` during the block. Raises LaunchError, with the `note` of the other owner, if it has one."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / "owner.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise LaunchError(f"Stepmark is already running from this folder ({lock.read().strip()}).") from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()}{', ' + note if note else ''}")
        lock.flush()
        yield
