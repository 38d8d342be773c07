"""Sampling over the API: started by name, watched, cancelled, resumed; nothing of addresses or keys comes out."""

import pytest

from annotation.loop.sampling import run_body
from annotation.models import SamplingRun
from tests.api_client import api_of
from tests.factories import MembershipFactory, ProblemFactory, UserFactory

pytestmark = pytest.mark.django_db
HIDDEN = {"url": "http://10.0.0.1/v1", "model": "m", "api_key": "sk-secret"}


@pytest.fixture
def asked(project, manager, monkeypatch):
    for module in ("core.lifecycle", "loop.sampling.following"):
        monkeypatch.setattr(f"annotation.{module}.enqueue", lambda *task, **_: None)
    ProblemFactory(project=project)
    return api_of(manager)


@pytest.mark.slow
def test_a_sampling_over_the_api(asked):
    made = asked.post("/api/v1/projects/project/samplings/", {"endpoint": "sandbox", "samples": 2}, format="json")
    assert made.status_code == 202
    assert (made.json()["state"], made.json()["model"], made.json()["problems"]) == ("queued", "sandbox-medium", 1)
    run = made.json()["id"]
    assert asked.get("/api/v1/projects/project/samplings/").json()["results"][0]["id"] == run
    address = f"/api/v1/projects/project/jobs/sampling/{run}/"
    assert asked.post(f"{address}cancel/").json()["state"] == "cancelled"
    assert asked.post(f"{address}cancel/").json()["code"] == "job_over"
    assert asked.post(f"{address}resume/").json()["state"] == "queued"
    run_body.run_sampling(run)
    found = asked.get(address).json()
    assert (found["state"], found["failed_problems"], found["progress"]["share"]) == ("failed", 1, 1.0)
    assert "contains no problem" in found["error"]


def test_endpoints_are_named_and_their_addresses_and_keys_stay_hidden(asked, settings):
    settings.POLICY_ENDPOINTS = {"inner": HIDDEN}
    answers = [
        asked.get("/api/v1/projects/project/policy-endpoints/"),
        asked.post("/api/v1/projects/project/samplings/", {"endpoint": "inner"}, format="json"),
    ]
    assert answers[0].json() == [{"name": "inner", "model": "m"}]
    assert not any(secret in answer.content.decode() for answer in answers for secret in ("sk-secret", "10.0.0.1"))


@pytest.mark.parametrize(
    ("wish", "status", "code"),
    [
        ({"endpoint": "http://10.0.0.1/v1"}, 400, "unknown_endpoint"),
        ({"endpoint": "sandbox", "prompt": "Solve."}, 400, "invalid_sampling"),
        ({"endpoint": "sandbox", "domain": "poetry"}, 400, "no_problems"),
        ({"endpoint": "sandbox", "samples": 0}, 400, "invalid"),
        ({}, 400, "invalid"),
    ],
)
def test_what_cannot_be_is_refused_by_code(asked, wish, status, code):
    answer = asked.post("/api/v1/projects/project/samplings/", wish, format="json")
    assert answer.status_code == status
    assert answer.json()["code"].startswith(code)
    assert not SamplingRun.objects.exists()


def test_only_managers_sample(project, asked):
    client = api_of(MembershipFactory(project=project, role="reviewer", user=UserFactory()).user)
    assert client.get("/api/v1/projects/project/samplings/").status_code == 403
    assert client.post("/api/v1/projects/project/samplings/", {"endpoint": "sandbox"}).status_code == 403
