"""The two embedded servers under one folder, started and stopped together by their one owner."""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from launch.errors import LaunchError
from launch.postgres import Postgres
from launch.redis_server import Redis

REVIVAL_SECONDS = 30


class Servers(dict[str, str]):
    """The addresses of two servers as environment variables, and a hold on those that are embedded."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        super().__init__(addresses)
        self._embedded: list[Postgres | Redis] = []

    def start(self, name: str, server: Postgres | Redis) -> None:
        """Start a server and name its address."""
        server.start()
        self._embedded.append(server)
        self[name] = server.url

    def revive(self) -> list[str]:
        """Start what has died (a killed process, a full memory) again; returns a word for each.

        Raises LaunchError when a server stays down.
        """
        dead = [server for server in self._embedded if not server.running]
        for server in dead:
            _start_again(server)
        return [type(server).__name__ for server in dead]


@contextmanager
def servers(root: Path, *, given: Mapping[str, str], durable: bool = True) -> Iterator[Servers]:
    """Addresses as environment variables: those `given`, and for the absent ones an embedded server under `root`.

    The caller is the only process that may start servers under `root` (see `launch.ownership`).
    """
    addresses = Servers({name: given[name] for name in ("DATABASE_URL", "REDIS_URL") if given.get(name)})
    sockets = socket_folder(root)
    logs = root / "log"
    logs.mkdir(parents=True, exist_ok=True)
    with ExitStack() as running:
        for name, server in (
            ("DATABASE_URL", Postgres(root / "postgres", sockets / "postgres", logs / "postgres.log", durable)),
            ("REDIS_URL", Redis(root / "redis", sockets / "redis", logs / "redis.log", durable)),
        ):
            if name not in addresses:
                running.callback(server.stop)  # first: an interrupted start is stopped too
                addresses.start(name, server)
        yield addresses


def _start_again(server: Postgres | Redis) -> None:
    """A killed PostgreSQL refuses to start until the last process that served a connection has noticed."""
    deadline = time.monotonic() + REVIVAL_SECONDS
    while True:
        try:
            return server.start()
        except LaunchError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def socket_folder(root: Path) -> Path:
    """A private folder of a short, stable name: a socket's whole path may not pass 107 bytes."""
    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"stepmark-{os.geteuid()}-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise LaunchError(f"{folder} belongs to someone else: remove it, or set TMPDIR to a folder of your own.")
    return folder
