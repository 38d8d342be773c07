"""Test processes that run beside each other share the servers, and nothing in them."""

import os

import pytest
from celery import current_app
from django.conf import settings
from django.db import connection


@pytest.mark.django_db
@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="runs in one process: `-n 2` to see it")
def test_a_parallel_process_has_a_database_a_broker_and_a_folder_of_its_own() -> None:
    worker = os.environ["PYTEST_XDIST_WORKER"]
    number = int(worker.removeprefix("gw")) + 1
    assert connection.settings_dict["NAME"].endswith(worker)
    assert settings.REDIS_URL.endswith(f"{number}")
    assert current_app.conf.broker_url.endswith(f"{number}")
    assert settings.STATE_ROOT.name == worker
