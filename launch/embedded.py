"""The two embedded servers under one folder, which their one owner starts and stops together."""

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
    """The addresses of the two servers as environment variables; starts those that are embedded."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        super().__init__(addresses)
        self._embedded: list[Postgres | Redis] = []

    def start(self, name: str, server: Postgres | Redis) -> None:
        """Start a server and add its address."""
        server.start()
        self._embedded.append(server)
        self[name] = server.url

    def revive(self) -> list[str]:
        """Restart the servers that have died; returns their names. Raises LaunchError if one does not start again."""
        dead = [server for server in self._embedded if not server.running]
        for server in dead:
            _start_again(server)
        return [type(server).__name__ for server in dead]


@contextmanager
def servers(root: Path, *, external: Mapping[str, str], durable: bool = True) -> Iterator[Servers]:
    """The addresses of the servers: `external` ones where set, and embedded servers under `root` for the others.

    The caller is the only process that may start servers under `root` (see `launch.ownership`).
    """
    addresses = Servers({name: external[name] for name in ("DATABASE_URL", "REDIS_URL") if external.get(name)})
    sockets = socket_folder(root)
    logs = root / "log"
    logs.mkdir(parents=True, exist_ok=True)
    with ExitStack() as running:
        for name, server in (
            ("DATABASE_URL", Postgres(root / "postgres", sockets / "postgres", logs / "postgres.log", durable)),
            ("REDIS_URL", Redis(root / "redis", sockets / "redis", logs / "redis.log", durable)),
        ):
            if name not in addresses:
                running.callback(server.stop)  # before the start, so that an interrupted start is stopped too
                addresses.start(name, server)
        yield addresses


def _start_again(server: Postgres | Redis) -> None:
    """Retry the start: a killed PostgreSQL refuses it until the last process of its connections has ended."""
    deadline = time.monotonic() + REVIVAL_SECONDS
    while True:
        try:
            return server.start()
        except LaunchError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def socket_folder(root: Path) -> Path:
    """A private folder with a short, stable name: the path of a socket may have 107 bytes at most."""
    name = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"stepmark-{os.geteuid()}-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise LaunchError(f"{folder} belongs to someone else: remove it, or set TMPDIR to a folder of your own.")
    return folder
