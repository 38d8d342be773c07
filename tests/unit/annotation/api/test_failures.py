"""Programs get the error body even where Django itself answers; people get a page."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from psycopg.errors import DiskFull

from annotation.api import projects
from labelling_ui.pages import home

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(client: Client) -> Client:
    client.raise_request_exception = False
    client.force_login(User.objects.create_user("mara"))
    return client


def defect(*_: object) -> None:
    raise RuntimeError("the reason")


def lost(*_: object) -> None:
    raise OperationalError("the connection is lost")


def full(*_: object) -> None:
    raise OperationalError("could not extend file") from DiskFull("could not extend file")


def test_an_unexpected_failure_is_told_to_a_program(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "visible_projects", defect)
    response = browser.get("/api/v1/projects/")
    assert response.status_code == 500
    assert response.json()["code"] == "server_error"
    assert "the reason" not in response.content.decode()


def test_an_unexpected_failure_of_a_page_is_a_page(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "visible_projects", defect)
    response = browser.get("/")
    assert response.status_code == 500
    assert "Something went wrong on our side" in response.content.decode()


@pytest.mark.parametrize(("outage", "code"), [(lost, "database_unavailable"), (full, "storage_full")])
def test_an_outage_is_told_with_when_to_try_again(
    browser: Client, monkeypatch: pytest.MonkeyPatch, outage: Callable[..., None], code: str
) -> None:
    monkeypatch.setattr(projects, "visible_projects", outage)
    response = browser.get("/api/v1/projects/")
    assert (response.status_code, response.json()["code"]) == (503, code)
    assert int(response["Retry-After"]) > 0
    monkeypatch.setattr(home, "visible_projects", outage)
    page = browser.get("/")
    assert page.status_code == 503
    assert "The database is unavailable" in page.content.decode()


@pytest.mark.parametrize("address", ["/api/", "/api/v2/projects/", "/api/v1/nothing/"])
def test_an_unknown_address_is_told_to_a_program(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert response.json().keys() == {"code", "message", "extra"}


def test_an_unknown_page_is_a_page(client: Client) -> None:
    response = client.get("/nothing/")
    assert response.status_code == 404
    assert "Page not found" in response.content.decode()


def test_a_request_that_django_refuses_is_told_to_a_program(client: Client, settings) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]
    response = client.get("/api/v1/projects/", headers={"host": "elsewhere.example"})
    assert response.status_code == 400
    assert response.json()["code"] == "bad_request"


def test_a_page_that_django_refuses_is_a_page(client: Client, settings) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]
    response = client.get("/", headers={"host": "elsewhere.example"})
    assert response.status_code == 400
    assert "Invalid request" in response.content.decode()
