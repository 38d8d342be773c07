"""A job is enqueued, or left to the sweep, in a short time."""

import time

import pytest
from celery import Celery

from annotation.core import jobs
from tests.mute_redis import mute_redis


def test_a_broker_that_hangs_does_not_hold_the_request(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    quick = options | {name: options[name] / 30 for name in ("socket_timeout", "socket_connect_timeout")}
    with mute_redis() as address:
        app = Celery("mute", set_as_current=False)
        app.config_from_object("django.conf:settings", namespace="CELERY")
        app.conf.update(broker_url=address, broker_transport_options=quick)
        assert app.conf.result_backend is None, "the request would wait for it too, for minutes"
        monkeypatch.setattr(jobs, "current_app", app)
        began = time.monotonic()
        jobs._send("jobs.sweep", (), "default")
    assert time.monotonic() - began < 5
