"""A Redis that does not respond is an empty cache of figures. Each process reports it once, and waits for it once."""

import logging

import pytest

from config.figures_cache import FiguresCache
from tests.mute_redis import mute_redis


def test_a_redis_that_hangs_is_asked_once(caplog: pytest.LogCaptureFixture) -> None:
    with mute_redis() as address, caplog.at_level(logging.WARNING):
        cache = FiguresCache(address, {"OPTIONS": {"socket_timeout": 0.2, "socket_connect_timeout": 0.2}})
        assert cache.get("figure", "none") == "none"
        cache.set("figure", 1)
        assert cache.get("figure") is None
        assert cache.add("busy", 1), "else no request would compute the figure"
        assert not cache.delete("busy")
    assert [record.getMessage().split(" (")[0] for record in caplog.records] == ["Redis does not respond"]
