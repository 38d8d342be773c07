"""PgBouncer in front of the test database: few sessions, each of which is given to a client for one transaction."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from django.db import connection

from launch.postgres import as_unprivileged
from launch.tether import tethered
from tests.waiting import until

PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
PORT = "6432"
ABSENT = "this test needs PgBouncer (Debian: `apt-get install pgbouncer`)"
SETTINGS = """
[databases]
{dbname} = {address}
[pgbouncer]
listen_addr =
listen_port = {port}
unix_socket_dir = {folder}
unix_socket_mode = 0777
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 100
"""


@contextmanager
def pooler(*, sessions: int) -> Iterator[str]:
    """Start one; yields the folder of its socket, which is the host of its address."""
    assert PGBOUNCER
    with TemporaryDirectory(prefix="pooler-") as made:
        folder = Path(made)
        folder.chmod(0o777)
        known = connection.get_connection_params()
        address = {name: known[name] for name in ("dbname", "user", "password", "host", "port") if known.get(name)}
        written = SETTINGS.format(
            dbname=address["dbname"],
            address=" ".join(f"{name}={value}" for name, value in address.items()),
            folder=folder,
            port=PORT,
            sessions=sessions,
        )
        (folder / "pgbouncer.ini").write_text(written)
        with (folder / "pgbouncer.log").open("wb") as log:
            process = subprocess.Popen(
                as_unprivileged(tethered([PGBOUNCER, str(folder / "pgbouncer.ini")])), stdout=log, stderr=log
            )
            try:
                until(lambda: _answers(folder, address))
                yield made
            finally:
                process.terminate()
                process.wait()


def _answers(folder: Path, address: dict[str, str]) -> bool:
    try:
        with psycopg.connect(dbname=address["dbname"], user=address["user"], host=str(folder), port=PORT):
            return True
    except psycopg.OperationalError:
        return False
