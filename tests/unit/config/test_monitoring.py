"""What an operator's tools may see."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_healthy(client):
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"database": "ok", "redis": "ok"}


def test_unhealthy_without_redis(client, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json() == {"database": "ok", "redis": "does not answer"}


def test_metrics_for_this_machine(client):
    response = client.get("/metrics")
    assert response.status_code == 200
    assert b"django_http_requests_before_middlewares_total" in response.content


@pytest.mark.parametrize("origin", [{"REMOTE_ADDR": "192.0.2.7"}, {"HTTP_X_FORWARDED_FOR": "192.0.2.7"}])
def test_metrics_are_not_for_strangers(origin):
    assert Client(**origin).get("/metrics").status_code == 403


def test_metrics_for_staff_from_anywhere(admin_user):
    client = Client(REMOTE_ADDR="192.0.2.7")
    client.force_login(admin_user)
    assert client.get("/metrics").status_code == 200
