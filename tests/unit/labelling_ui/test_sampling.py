"""The pages of sampling from a policy: the form, the preview, the progress, and without any policy."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.core.membership.projects import create_project
from annotation.files.record_import import import_records
from annotation.loop.gateway.sandbox import Sandbox
from annotation.loop.sampling import run_body, sampling_runs
from annotation.models import Project, SamplingRun, Solution

ASKED = {
    "endpoint": "sandbox", "samples": "2", "temperature": "0.7", "max_tokens": "500", "choice": "all", "domain": "",
    "most_problems": "5", "prompt": "", "decomposition": "blank_lines", "thinking": "separate",
}  # fmt: skip


@pytest.fixture
def manager(db: None) -> User:
    return User.objects.create_user("manager", is_staff=True)


@pytest.fixture
def project(manager: User) -> Project:
    project = create_project(by=manager, name="Sandbox", slug="sandbox")
    import_records(project=project, records=Sandbox(solutions=20, seed=0).records(), by=manager)
    return project


@pytest.fixture
def asking(client: Client, manager: User, project: Project, monkeypatch: pytest.MonkeyPatch) -> Client:
    for module in ("core.lifecycle", "loop.sampling.following"):
        monkeypatch.setattr(f"annotation.{module}.enqueue", lambda *task, **_: None)
    client.force_login(manager)
    return client


def page(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_a_sampling_is_started_watched_and_ends_with_its_figures(asking: Client) -> None:
    answer = asking.post("/p/sandbox/sample/", ASKED)
    run = SamplingRun.objects.get()
    assert answer.headers["Location"] == f"/samplings/{run.pk}/"
    assert (run.samples, run.temperature, run.problems, run.token_budget) == (2, 0.7, 5, 0)
    waiting = page(asking, f"/samplings/{run.pk}/")
    assert "Waiting for a worker." in waiting
    assert 'hx-select="#job"' in waiting
    run_body.run_sampling(run.pk, seconds=None)
    run.refresh_from_db()
    over = page(asking, f"/samplings/{run.pk}/")
    assert f"{run.wrong} wrong, {run.ungraded} not graded" in over
    assert 'hx-select="#job"' not in over
    assert "sandbox-medium" in page(asking, "/p/sandbox/sample/")


def test_a_preview_shows_graded_samples_and_keeps_none(asking: Client) -> None:
    before = Solution.objects.count()
    shown = asking.post("/p/sandbox/sample/preview/", ASKED).content.decode()
    assert shown.count("<article") == 3
    assert "right answer" in shown or "wrong answer" in shown
    assert Solution.objects.count() == before


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("samples", "0", "greater than or equal to 1"), ("prompt", "Solve.", "has no {problem}"), ("endpoint", "x", "x")],
)
def test_a_wish_that_cannot_be_is_said_in_place(asking: Client, field: str, value: str, said: str) -> None:
    for address in ("/p/sandbox/sample/", "/p/sandbox/sample/preview/"):
        assert said in asking.post(address, ASKED | {field: value}).content.decode()
    assert not SamplingRun.objects.exists()


def test_what_did_not_come_in_is_listed_with_its_reason_and_the_rest_can_be_asked_again(
    asking: Client, manager: User, project: Project
) -> None:
    plan = sampling_runs.SamplingPlan("sandbox", samples=1, max_tokens=3)
    run = sampling_runs.create_sampling(by=manager, project=project, plan=plan)
    run_body.run_sampling(run.pk, seconds=None)
    assert "a sample was truncated at 3 tokens" in page(asking, f"/samplings/{run.pk}/")
    again = sampling_runs.create_sampling(by=manager, project=project, plan=plan)
    assert asking.post(f"/p/{again.project.slug}/jobs/sampling/{again.pk}/cancel/").status_code == 302
    assert "/resume/" in page(asking, f"/samplings/{again.pk}/")
    assert asking.post(f"/p/{again.project.slug}/jobs/sampling/{again.pk}/resume/").status_code == 302
    assert "Cancel" in page(asking, f"/samplings/{again.pk}/")


def test_without_a_policy_the_page_says_how_to_connect_one(asking: Client, settings: pytest.FixtureRequest) -> None:
    settings.POLICY_ENDPOINTS = {}  # type: ignore[attr-defined]
    assert "POLICY_ENDPOINTS" in page(asking, "/p/sandbox/sample/")


def test_another_projects_sampling_is_not_there(client: Client, manager: User, project: Project) -> None:
    run = sampling_runs.create_sampling(by=manager, project=project, plan=sampling_runs.SamplingPlan("sandbox"))
    client.force_login(User.objects.create_user("stranger"))
    assert client.get(f"/samplings/{run.pk}/").status_code == 404
    assert client.post(f"/p/{run.project.slug}/jobs/sampling/{run.pk}/cancel/").status_code == 404
