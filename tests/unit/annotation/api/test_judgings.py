"""Judging over the API: estimated, started, read with its calls, cancelled and resumed."""

import pytest

from annotation.loop.judging.run_body import run_judging
from annotation.models import JudgingRun
from tests.api_client import api_of
from tests.factories import MembershipFactory, SolutionFactory, UserFactory, index_words
from tests.fake_endpoint import fake_endpoint

pytestmark = pytest.mark.django_db
JUDGINGS = "/api/v1/projects/project/judgings/"


@pytest.fixture
def asked(project, manager, settings, monkeypatch):
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda *task, **_: None)
    SolutionFactory(project=project, problem__text="What is 2 + 2?")
    SolutionFactory(project=project, problem__text="What is 3 + 3?", steps=["3 + 3 = 6."])
    index_words(project)
    client = api_of(manager)
    with fake_endpoint(lambda request, number: "\\boxed{-1}") as fake:
        settings.POLICY_ENDPOINTS = {"judge": fake.entry(prices={"prompt": 1, "completion": 10})}
        yield client


def test_a_judging_over_the_api(asked):
    wish = {"method": "judge", "endpoint": "judge", "chosen": {"search": "2 + 2"}, "cost_budget": 0.5}
    estimate = asked.post(f"{JUDGINGS}estimate/", wish, format="json").json()
    assert (estimate["solutions"], estimate["calls"], estimate["left_out"]) == (1, 1, {})
    made = asked.post(JUDGINGS, wish, format="json")
    assert (made.status_code, made.json()["state"], made.json()["solutions"]) == (202, "queued", 1)
    assert made.json()["chosen"] == {"search": "2 + 2"}
    run = made.json()["id"]
    address = f"/api/v1/projects/project/jobs/judging/{run}/"
    assert asked.post(f"{address}cancel/").json()["state"] == "cancelled"
    assert asked.post(f"{address}resume/").json()["state"] == "queued"
    run_judging(run, seconds=None)
    read = asked.get(address).json()
    assert (read["state"], read["labelled"], read["calls"], read["cost_per_label"]) == ("done", 1, 1, 0.0003)
    [call] = asked.get(f"{JUDGINGS}{run}/calls/").json()["results"]
    assert (call["replies"], call["state"], call["cost"]) == (["\\boxed{-1}"], "answered", 0.0003)
    assert call["annotation"] is not None
    assert asked.get(JUDGINGS).json()["results"][0]["id"] == run
    assert asked.get(f"{JUDGINGS}0/calls/").json()["code"] == "job_not_found"


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"endpoint": "http://10.0.0.1/v1"}, "unknown_endpoint"),
        ({"prompt": "Judge."}, "invalid_judging"),
        ({"template": "poem"}, "invalid"),
        ({"chosen": {"search": "poetry"}}, "no_solutions"),
        ({"chosen": {"split": "attic"}}, "invalid"),
    ],
)
def test_what_cannot_be_is_refused_by_code(asked, wish, code):
    answer = asked.post(JUDGINGS, {"method": "judge", "endpoint": "judge"} | wish, format="json")
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert not JudgingRun.objects.exists()


def test_only_managers_judge(project, asked):
    client = api_of(MembershipFactory(project=project, role="reviewer", user=UserFactory()).user)
    for address in (JUDGINGS, f"{JUDGINGS}estimate/"):
        assert client.post(address, {"method": "judge", "endpoint": "judge"}, format="json").status_code == 403
