"""Wrong passwords are counted by account and by the address of the person, not by that of the proxy."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from config.settings.base import CACHES

pytestmark = pytest.mark.django_db

PASSWORD = "one-two-buckle-my-shoe"
LIMITED = "Too many failed login attempts"


@pytest.fixture(autouse=True)
def behind_one_proxy(settings):
    settings.TRUSTED_PROXY_COUNT = 1
    cache.clear()
    User.objects.create_user("ada", password=PASSWORD)
    yield
    settings.CACHES = CACHES
    cache.clear()


def sign_in(name, password, *, address):
    # What a client writes into the header itself comes first; the proxy appends the address that it sees.
    client = Client(REMOTE_ADDR="172.18.0.1", headers={"X-Forwarded-For": f"10.9.9.9, {address}"})
    return client.post("/accounts/login/", {"login": name, "password": password})


@pytest.mark.slow
def test_wrong_names_from_one_address_keep_nobody_else_out():
    for n in range(40):
        sign_in(f"nobody{n}", "wrong", address="203.0.113.5")
    assert sign_in("ada", PASSWORD, address="203.0.113.5").status_code in (200, 429), "that address waits"
    assert sign_in("ada", PASSWORD, address="198.51.100.7").status_code == 302


def test_an_address_that_is_made_up_in_the_header_opens_no_new_account_of_tries():
    answers = []
    for n in range(40):
        client = Client(REMOTE_ADDR="172.18.0.1", headers={"X-Forwarded-For": f"10.0.0.{n}, 203.0.113.5"})
        answers.append(client.post("/accounts/login/", {"login": f"nobody{n}", "password": "wrong"}))
    assert LIMITED in answers[-1].content.decode()


def test_tries_at_one_account_are_counted_from_all_addresses_and_alike_for_a_name_that_is_none():
    pages = {}
    for name in ("ada", "nobody"):
        tries = [sign_in(name, "wrong", address=f"198.51.100.{n}").content.decode() for n in range(8)]
        pages[name] = [LIMITED in page for page in tries]
    assert pages["ada"] == pages["nobody"] == [False] * 5 + [True] * 3


def test_sixteen_people_behind_one_address_sign_in_at_once():
    for n in range(16):
        User.objects.create_user(f"person{n}", password=PASSWORD)
    assert {sign_in(f"person{n}", PASSWORD, address="203.0.113.5").status_code for n in range(16)} == {302}


@pytest.mark.slow
def test_too_many_tries_answer_429_with_a_page_of_ours():
    for n in range(90):
        answer = sign_in(f"nobody{n}", "wrong", address="203.0.113.5")
        if answer.status_code == 429:
            break
    assert answer.status_code == 429
    assert "Try again in a minute" in answer.content.decode()


def test_without_redis_nobody_signs_in_and_the_page_says_why(settings):
    nowhere = {"LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {name: cache | nowhere for name, cache in settings.CACHES.items()}
    client = Client(raise_request_exception=False)
    answer = client.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert (answer.status_code, "sessionid" in client.cookies) == (503, False)
    assert "Redis is unavailable" in answer.content.decode()
