"""A separate platform for tests that stop, crash, disconnect and fill its database.

A PostgreSQL cluster, where possible on a small file system of its own; a relay in front of it, which can lose an
answer; and the web server as it is deployed, with its pool of connections. No Redis answers it.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import psycopg

from launch.options import BASE_DIR
from launch.postgres import Postgres
from launch.tether import tethered
from tests.processes import free_port
from tests.waiting import until

SOCKET = ".s.PGSQL.5432"
SIZE_MB = 192
ROOMLESS = "this test fills a file system of its own, which only root may mount"


class Relay:
    """Passes bytes between clients and the database's socket, and on demand loses the answer to a message."""

    def __init__(self, folder: Path, behind: Path) -> None:
        self._behind = str(behind / SOCKET)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET))
        self._listener.listen()
        self.lose_next: bytes | None = None  # what the message contains
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(self._behind)
                except OSError:
                    client.close()
                    continue
                threading.Thread(target=self._asked, args=(client, server), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client), daemon=True).start()

    def _asked(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if self.lose_next and self.lose_next in data:
                    self.lose_next = None
                    _shut(client)  # first, so that the answer finds nobody
                server.sendall(data)
        _shut(server, socket.SHUT_WR)

    def _pass(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
        _shut(client)


def _shut(end: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    with suppress(OSError):
        end.shutdown(how)


@dataclass
class Answer:
    status: int
    body: dict[str, Any]
    headers: Any


@dataclass
class World:
    """`disk` is the folder of the small file system, None if it could not be mounted."""

    cluster: Postgres
    relay: Relay
    url: str
    disk: Path | None
    keys: dict[str, str] = field(default_factory=dict)

    def post(self, path: str, body: dict[str, Any]) -> Answer:
        return self._send("POST", path, body)

    def put(self, path: str, body: dict[str, Any]) -> Answer:
        return self._send("PUT", path, body)

    def claim(self) -> dict[str, Any]:
        """Claim the next task."""
        task: dict[str, Any] = until(lambda: self.post("projects/outage/claim/", {}).body.get("task"))
        return task

    def submit(self, submission: dict[str, Any]) -> Answer:
        return self.post("projects/outage/annotations/", submission)

    def submit_until_kept(self, submission: dict[str, Any]) -> Answer:
        """Send the submission again, as the workbench does, until the server can store it."""

        def kept() -> Answer | None:
            answer = self.submit(submission)
            assert answer.status in (200, 201, 503), answer
            return answer if answer.status != 503 else None

        return until(kept)

    def sql(self, statement: str, *values: Any) -> Any:
        """The first column of the first row, read without the platform."""
        with psycopg.connect(self.cluster.url, autocommit=True) as connection:
            row = connection.execute(statement, values).fetchone()
        return row and row[0]

    def kept(self, submission: dict[str, Any]) -> int:
        """How many annotations there are of a submission's solution."""
        count = self.sql("SELECT count(*) FROM annotation_annotation WHERE solution_id = %s", submission["solution"])
        assert isinstance(count, int)
        return count

    def die(self, how: signal.Signals) -> None:
        """Stop the database: SIGINT in order, SIGQUIT as in a crash."""
        process = self.cluster._process
        assert process is not None
        process.send_signal(how)
        process.wait()

    def restart(self) -> None:
        self.cluster.start()

    def _send(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        headers = {"Authorization": f"Token {self.keys['token']}", "Content-Type": "application/json"}
        request = Request(f"{self.url}/api/v1/{path}", json.dumps(body).encode(), headers, method=method)
        try:
            with urlopen(request, timeout=120) as answer:
                return Answer(answer.status, json.loads(answer.read()), answer.headers)
        except HTTPError as refused:
            return Answer(refused.code, json.loads(refused.read()), refused.headers)


def finished(task: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """All steps good."""
    path = [
        {
            "position": at["position"],
            "chosen": at["alternatives"][0]["id"],
            "ratings": [{"step": at["alternatives"][0]["id"], "state": "rated", "rating": 1}],
        }
        for at in task["solution"]["steps"]
    ]
    made = {"submission_id": str(uuid.uuid4()), "solution": task["solution"]["id"], "lease": task["lease"]["id"]}
    return made | {"finish_reason": "solution", "path": path} | changes


@contextmanager
def outage_world(solutions: int) -> Iterator[World]:
    """Start one; everything in it ends with the block."""
    with ExitStack() as running:
        # The path of a socket may not pass 107 bytes.
        root = Path(running.enter_context(TemporaryDirectory(prefix="outage-", ignore_cleanup_errors=True)))
        root.chmod(0o755)
        (root / "disk").mkdir()
        disk = _mount(root / "disk", running)
        cluster = Postgres(root / "disk" / "data", root / "db", root / "postgres.log")
        running.callback(cluster.stop)
        cluster.start()
        (root / "relay").mkdir()
        relay = Relay(root / "relay", root / "db")
        running.callback(relay.close)
        environment = os.environ | {
            "DATABASE_URL": cluster.url.replace("%2Fdb", "%2Frelay"),
            "REDIS_URL": f"unix://{root}/none.sock?db=0",
            "DATABASE_POOL": "2",
            "DJANGO_SETTINGS_MODULE": "config.settings.test",
        }
        seed = [sys.executable, "-m", "tests.outage_seed", str(solutions)]
        told = subprocess.run(seed, cwd=BASE_DIR, env=environment, capture_output=True, text=True)
        assert told.returncode == 0, told.stderr
        port = free_port()
        web = subprocess.Popen(
            tethered([
                str(Path(sys.executable).parent / "gunicorn"), "config.wsgi", "--bind", f"127.0.0.1:{port}",
                "--workers", "1", "--worker-class", "gthread", "--threads", "8", "--no-control-socket",
            ]),
            cwd=BASE_DIR, env=environment, stdout=(root / "web.log").open("ab"), stderr=subprocess.STDOUT,
        )  # fmt: skip
        running.callback(web.wait)
        running.callback(web.terminate)
        world = World(cluster, relay, f"http://127.0.0.1:{port}", disk, json.loads(told.stdout.splitlines()[-1]))
        until(lambda: _answers(world))
        yield world


def _mount(folder: Path, running: ExitStack) -> Path | None:
    """A file system of SIZE_MB in memory; None if this process may not mount one."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        return None
    running.callback(subprocess.run, ["umount", "--lazy", folder], check=True)
    return folder


def _answers(world: World) -> bool:
    try:
        return world.post("projects/outage/claim/", {}).status == 200
    except URLError:
        return False
