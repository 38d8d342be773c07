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


@pytest.fixture
def scraper(settings):
    """A program on another machine that asks by a name the site does not know, as Prometheus does beside it."""
    settings.ALLOWED_HOSTS = ["labels.example.org"]
    settings.METRICS_TOKEN = "a-token-for-prometheus"
    return Client(REMOTE_ADDR="172.18.0.7", SERVER_NAME="web", SERVER_PORT="8000")


def test_metrics_by_token_whatever_name_is_asked_for(scraper):
    response = scraper.get("/metrics", headers={"Authorization": "Bearer a-token-for-prometheus"})
    assert response.status_code == 200
    assert b"django_http_requests_before_middlewares_total" in response.content


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer another"}, {"Authorization": "Bearer "}])
def test_metrics_without_the_token_are_refused(scraper, header):
    assert scraper.get("/metrics", headers=header).status_code == 400


def test_the_token_opens_nothing_else(scraper):
    response = scraper.get("/accounts/login/", headers={"Authorization": "Bearer a-token-for-prometheus"})
    assert response.status_code == 400


def test_an_empty_token_opens_nothing(scraper, settings):
    settings.METRICS_TOKEN = ""
    assert scraper.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 400
