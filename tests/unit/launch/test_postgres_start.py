"""How long the start of the embedded PostgreSQL is waited for: as long as it is starting."""

from contextlib import nullcontext
from types import SimpleNamespace

import psycopg
import pytest

from launch import postgres
from launch.errors import LaunchError


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Waits for a server that answers after so many seconds, and until then `starts`, or is up and refuses us."""

    def wait(seconds, *, starts):
        clock = SimpleNamespace(now=0.0)

        def sleep(pause):
            clock.now += pause

        def connect(*address, **how):
            if clock.now < seconds:
                raise psycopg.OperationalError("the database system is starting up")
            return nullcontext(SimpleNamespace(execute=lambda *query: SimpleNamespace(fetchone=lambda: (1,))))

        monkeypatch.setattr(postgres, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=sleep))
        monkeypatch.setattr(postgres.psycopg, "connect", connect)
        monkeypatch.setattr(postgres.Postgres, "_is_starting", lambda self: starts)
        log = tmp_path / "postgres.log"
        log.write_text("LOG:  redo in progress\n")
        server = postgres.Postgres(tmp_path, tmp_path, log)
        server._process = SimpleNamespace(poll=lambda: None, send_signal=lambda number: None, wait=lambda *_: None)
        server._await_answer(server._process)

    return wait


def test_a_long_start_is_waited_for_and_told_once(start, capsys):
    start(10 * postgres.START_SECONDS, starts=True)
    assert capsys.readouterr().err.count("still starting") == 1


def test_a_usual_start_tells_nothing(start, capsys):
    start(1, starts=True)
    assert capsys.readouterr().err == ""


def test_a_server_that_refuses_us_is_not_waited_for_any_longer(start):
    with pytest.raises(LaunchError, match=r"did not start .*redo in progress"):
        start(10 * postgres.START_SECONDS, starts=False)
