"""A streaming replica of the embedded test server, which logs each statement."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from launch.postgres import Postgres, as_unprivileged, binaries

ABSENT = "this test makes a replica of the embedded server"
# It waits for a reader of vacuumed rows for longer than any read here takes, because autovacuum runs at any time.
# Only the test of a cancelled read waits for the end of that. All statements are logged.
SETTINGS = "max_standby_streaming_delay = 3s\nlog_statement = all\n"


class Replica(Postgres):
    """The server that the setting DATABASE_REPLICA_URL would name."""

    def ask(self, statement: str) -> object:
        """The value of a statement, by a superuser of this server."""
        with psycopg.connect(self._url("postgres"), autocommit=True) as session:
            row = session.execute(statement).fetchone()
            return row and row[0]

    def statements(self) -> str:
        """All statements that it has run so far."""
        return self.log.read_text()

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        assert self._process
        self._process.send_signal(self.kill_signal)
        self._process.wait()


@contextmanager
def replicating() -> Iterator[Replica]:
    """Copy the server and start the copy, which follows it."""
    with TemporaryDirectory(prefix="replica-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        server = Replica(folder / "data", folder / "sockets", folder / "log", durable=False)
        server._own(server.data)
        copy = [str(binaries() / "pg_basebackup"), "--dbname", os.environ["DATABASE_URL"], "--pgdata", str(server.data)]
        copy += ["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
        subprocess.run(as_unprivileged(copy), check=True, capture_output=True)
        with (server.data / "postgresql.auto.conf").open("a") as file:
            file.write(SETTINGS)
        try:
            server.start()
            yield server
        finally:
            server.stop()
