"""The policies over HTTP."""

from prm.sandbox.endpoint import Sandbox


def test_a_busy_server_rejects_each_request_once() -> None:
    """At random, a client that asks six times would fail now and then, and the tests with it."""
    busy = Sandbox(busy=1.0)
    rejected = [busy.rejects(body) for body in (b"one", b"other", b"one", b"other", b"one")]
    assert rejected == [True, True, False, False, True]
