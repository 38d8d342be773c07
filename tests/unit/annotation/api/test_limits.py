"""How often the API may be called: strictly by strangers, generously by those who are known."""

import pytest
import redis
from rest_framework.test import APIClient

from annotation.api import limits
from annotation.core.membership.tokens import issue_token
from tests.factories import MembershipFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def set_limits(settings):
    settings.API_CALLS_PER_MINUTE, settings.API_STRANGER_CALLS_PER_MINUTE = 12_000, 20
    settings.TRUSTED_PROXY_COUNT = 1
    forget()
    yield
    forget()


def forget():
    if keys := limits.redis_client().keys(f"{limits.KEY}:*"):
        limits.redis_client().delete(*keys)


def client_at(address, token=None):
    client = APIClient(REMOTE_ADDR="172.18.0.1", headers={"X-Forwarded-For": address})
    if token:
        client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


@pytest.fixture
def member():
    return MembershipFactory(role="manager")


@pytest.mark.parametrize("token", ["wrong", None])
def test_a_stranger_is_refused_after_some_calls(token, monkeypatch):
    monkeypatch.setattr(limits.time, "time", lambda: 1_000_000_020.0)
    client = client_at("203.0.113.5", token)
    answers = [client.get("/api/v1/projects/") for _ in range(30)]
    assert [answer.status_code for answer in answers] == [401] * 20 + [429] * 10
    refused = answers[-1]
    assert refused.json() == {
        "code": "too_many_requests",
        "message": "More than 20 calls without a valid token in one minute. Check the token, and try again in 60 s.",
        "extra": {"limit": 20, "retry_after": 60},
    }
    assert refused["Retry-After"] == "60"
    assert client_at("198.51.100.7", token).get("/api/v1/projects/").status_code == 401, "another address"


def test_one_who_is_known_is_not_kept_out_by_strangers_at_the_same_address(member):
    for _ in range(30):
        client_at("203.0.113.5", "wrong").get("/api/v1/projects/")
    _, secret = issue_token(by=member.user, name="mine")
    assert client_at("203.0.113.5", secret).get("/api/v1/projects/").status_code == 200


def test_calls_of_an_account_are_counted_over_tokens_and_browsers(member, settings, monkeypatch):
    monkeypatch.setattr(limits.time, "time", lambda: 1_000_000_030.0)
    settings.API_CALLS_PER_MINUTE = 5
    _, secret = issue_token(by=member.user, name="mine")
    browser = client_at("203.0.113.5")
    browser.force_login(member.user)
    answers = [client.get("/api/v1/projects/") for client in (browser, client_at("203.0.113.5", secret)) * 3]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert (answers[-1].json()["code"], answers[-1]["Retry-After"]) == ("too_many_requests", "50")
    other = client_at("203.0.113.5")
    other.force_login(MembershipFactory().user)
    assert other.get("/api/v1/projects/").status_code == 200, "the same address, another account"


def test_a_call_costs_one_round_trip(member, monkeypatch):
    trips = []
    sent = redis.Connection.send_packed_command

    def counting(self, *arguments, **named):
        trips.append(1)
        return sent(self, *arguments, **named)

    # The first call of a minute also sets when its count ends.
    monkeypatch.setattr(limits.time, "time", lambda: 1_000_000_020.0)
    client = client_at("203.0.113.5")
    client.force_login(member.user)
    client.get("/api/v1/projects/")  # opens the connection
    for kind in (redis.Connection, redis.UnixDomainSocketConnection):
        monkeypatch.setattr(kind, "send_packed_command", counting)
    client.get("/api/v1/projects/")
    assert len(trips) == 1


def test_without_redis_nobody_is_refused(member, monkeypatch):
    client = client_at("203.0.113.5")
    client.force_login(member.user)
    with monkeypatch.context() as away:
        away.setattr(limits, "redis_client", lambda: redis.Redis(port=1, retry=limits.ONCE_MORE))
        assert client.get("/api/v1/projects/").status_code == 200
        assert client_at("203.0.113.5").get("/api/v1/projects/").status_code == 401


def test_zero_is_no_limit(settings):
    settings.API_STRANGER_CALLS_PER_MINUTE = 0
    assert {client_at("203.0.113.5", "wrong").get("/api/v1/projects/").status_code for _ in range(30)} == {401}


@pytest.mark.slow
def test_only_those_who_sign_in_read_the_schema(member):
    assert client_at("203.0.113.5").get("/api/v1/schema/").status_code == 401
    client = client_at("203.0.113.5")
    client.force_login(member.user)
    assert client.get("/api/v1/schema/").status_code == 200
