"""The check of an idle connection before a request uses it."""

import psycopg
import pytest
from django.db import connection

from config.postgres.base import check_idle


@pytest.fixture
def idle(transactional_db):
    everything = connection.get_connection_params()
    address = {name: everything[name] for name in ("dbname", "user", "host") if name in everything}
    with psycopg.connect(**address) as one:
        one.autocommit = True
        yield one


def test_a_live_connection_is_accepted_without_a_round_trip(idle, monkeypatch):
    monkeypatch.setattr(psycopg.Connection, "execute", None)
    check_idle(idle)


def test_a_connection_that_the_server_has_closed_is_refused(idle):
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [idle.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        check_idle(idle)


def test_a_notice_does_not_end_a_connection(idle):
    idle.execute("LISTEN news")
    with connection.cursor() as cursor:
        cursor.execute("NOTIFY news")
    check_idle(idle)
    assert idle.execute("SELECT 1").fetchone() == (1,)
