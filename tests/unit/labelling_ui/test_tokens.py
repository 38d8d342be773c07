"""The page of a person's API tokens."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client: Client) -> Client:
    client.force_login(User.objects.create_user("mara"))
    return client


def calls(secret: str) -> int:
    return Client().get("/api/v1/projects/", headers={"Authorization": f"Token {secret}"}).status_code


def test_a_token_is_shown_once_works_and_can_be_revoked(signed_in: Client) -> None:
    page = signed_in.post("/tokens/", {"name": "sampling job", "scopes": ["read"]}).content.decode()
    found = re.search(r"Token (stepmark_[\w-]+)", page)
    assert found
    secret = found[1]
    assert calls(secret) == 200
    again = signed_in.get("/tokens/").content.decode()
    assert "sampling job" in again
    assert secret not in again
    action = re.search(r"/tokens/\d+/revoke/", again)
    assert action
    assert signed_in.get(action[0]).status_code == 405
    signed_in.post(action[0])
    assert calls(secret) == 401
    assert "No tokens" in signed_in.get("/tokens/").content.decode()


def test_a_token_needs_a_name(signed_in: Client) -> None:
    assert "This field is required" in signed_in.post("/tokens/", {"name": " "}).content.decode()


def test_somebody_elses_token_cannot_be_revoked(signed_in: Client) -> None:
    page = signed_in.post("/tokens/", {"name": "mine", "scopes": ["read"]}).content.decode()
    action = re.search(r"/tokens/\d+/revoke/", page)
    assert action
    stranger = Client()
    stranger.force_login(User.objects.create_user("other"))
    assert stranger.post(action[0]).status_code == 404
    assert "mine" in signed_in.get("/tokens/").content.decode()


def test_a_visitor_is_asked_to_sign_in(client: Client) -> None:
    assert client.get("/tokens/").headers["Location"].startswith("/accounts/login/")
