"""Django's PostgreSQL backend with metrics, a pool that does not ask the server at each request, and for poolers."""

import select
from typing import Any

import psycopg
from django_prometheus.db.backends.postgresql import base


def check_idle(connection: psycopg.Connection[Any]) -> None:
    """Raise psycopg.OperationalError if the server has closed an idle connection.

    Its socket is then readable. Only in that case the server is asked, because it may also have sent a notice.
    """
    socket = select.poll()
    socket.register(connection.fileno(), select.POLLIN)
    if socket.poll(0):
        connection.execute("")


class DatabaseWrapper(base.DatabaseWrapper):  # type: ignore[misc]  # it ships no types
    """The backend that DATABASES names."""

    @property
    def pool(self) -> Any:
        """The pool of this process, or None without DATABASE_POOL. Django always lets it run a query as its check."""
        pool = super().pool
        if pool is not None:
            pool._check = check_idle
        return pool

    def create_cursor(self, name: str | None = None) -> Any:
        """A cursor; behind a pooler a named one, whose rows stay at the server, only lasts inside a transaction."""
        if name and self.settings_dict["TRANSACTION_POOLING"] and self.connection.autocommit:
            name = None
        return super().create_cursor(name)
