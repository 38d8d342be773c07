"""Answer checks over the API: started, watched, cancelled; who may, and what is refused."""

import pytest

from annotation.files.answer_checks import run_answer_check
from tests.api_client import api_of
from tests.factories import MembershipFactory, ProjectFactory, SolutionFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return ProjectFactory()


@pytest.fixture
def client_of(project):
    def client(role):
        return api_of(MembershipFactory(project=project, role=role).user)

    return client


@pytest.fixture
def manager(client_of):
    return client_of("manager")


@pytest.fixture
def checks(project):
    return f"/api/v1/projects/{project.slug}/answer-checks/"


def job_address(project, check):
    return f"/api/v1/projects/{project.slug}/jobs/answers/{check}/"


def solved(project, answer, **outcome):
    return SolutionFactory(
        project=project, problem__reference_answer="4", steps=["Two and two.", f"The answer is {answer}."], **outcome
    )


def test_a_check_is_started_and_watched_to_its_end(project, manager, checks):
    solved(project, 4)
    solved(project, 5)
    solved(project, 6, final_answer_correct=True, outcome_source="tests")
    started = manager.post(checks, {})
    assert (started.status_code, started.json()["state"], started.json()["total"]) == (202, "queued", 3)
    run_answer_check(started.json()["id"])
    found = manager.get(job_address(project, started.json()["id"])).json()
    assert {name: found[name] for name in ("state", "done", "correct", "wrong", "changed", "disagreements")} == {
        "state": "done", "done": 3, "correct": 1, "wrong": 2, "changed": 2, "disagreements": 1,
    }  # fmt: skip
    again = manager.post(checks, {"overwrite": True}).json()
    listed = manager.get(checks).json()["results"]
    assert [(one["id"], one["overwrite"]) for one in listed] == [(again["id"], True), (found["id"], False)]


def test_one_runs_at_a_time_and_can_be_cancelled_once(project, manager, checks):
    nothing = manager.post(checks, {})
    assert (nothing.status_code, nothing.json()["code"]) == (409, "no_references")
    solved(project, 4)
    check = manager.post(checks, {}).json()["id"]
    second = manager.post(checks, {})
    assert (second.status_code, second.json()["code"]) == (409, "check_running")
    cancel = job_address(project, check) + "cancel/"
    assert manager.post(cancel).json()["state"] == "cancelled"
    refused = manager.post(cancel)
    assert (refused.status_code, refused.json()["code"]) == (409, "job_over")
    assert manager.post(checks, {"overwrite": "perhaps"}).json()["code"] == "invalid"
    assert manager.get(job_address(project, 0)).json()["code"] == "job_not_found"


def test_a_reviewer_watches_but_neither_starts_nor_cancels(project, client_of, manager, checks):
    solved(project, 4)
    check = manager.post(checks, {}).json()["id"]
    reviewer = client_of("reviewer")
    assert reviewer.get(job_address(project, check)).status_code == 200
    for address in (checks, job_address(project, check) + "cancel/"):
        assert reviewer.post(address, {}).json()["code"] == "role_needed"
