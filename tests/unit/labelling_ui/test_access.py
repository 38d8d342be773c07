"""The status of each page and action for each role."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.core.membership.projects import create_project
from annotation.models import ImportJob, Project, TrainingRun

# page: (annotator, reviewer, manager)
PAGES = {
    "": (302, 200, 200),  # an annotator goes on to their own work
    "labels/": (200, 200, 200),
    "my-work/": (200, 200, 200),
    "practice/": (200, 200, 200),
    "solutions/": (403, 200, 200),
    "queue/": (403, 200, 200),
    "disputes/": (403, 200, 200),
    "review/": (403, 200, 200),
    "review/0/": (403, 404, 404),
    "quality/": (403, 200, 200),
    "quality/annotators/": (403, 200, 200),
    "quality/annotators/0/": (403, 404, 404),
    "gold/": (403, 200, 200),
    "quality/agreement/": (403, 200, 200),
    "quality/sources/": (403, 200, 200),
    "quality/hints/": (403, 200, 200),
    "quality/labour/": (403, 200, 200),
    "quality/agreement-filter/": (403, 200, 200),
    "generations/": (403, 200, 200),
    "runs/": (403, 200, 200),
    "models/": (403, 200, 200),
    "models/1/": (403, 200, 200),
    "models/1/download/": (403, 403, 404),  # not exported
    "models/1/audit-report/": (403, 404, 404),  # not audited
    "models/compare/?a=1&b=1": (403, 200, 200),
    "serving/": (403, 200, 200),
    "jobs/": (403, 200, 200),
    "serving/log/": (403, 200, 200),
    "answers/": (403, 200, 200),
    "import/": (403, 403, 200),
    "import/test-results/": (403, 403, 200),
    "sample/": (403, 403, 200),
    "judge/": (403, 403, 200),
    "judge/0/": (403, 403, 404),
    "datasets/": (403, 403, 200),
    "datasets/schedules/": (403, 403, 200),
    "members/": (403, 403, 200),
    "members/0/gold/": (403, 404, 404),
    "members/0/machine/": (403, 403, 404),
    "members/new-machine/": (403, 403, 200),
    "audit/": (403, 403, 200),
    "settings/": (403, 403, 200),
    "settings/queue/": (403, 403, 200),
    "settings/webhooks/": (403, 403, 200),
    "settings/webhooks/0/": (403, 403, 404),
}
ACTIONS = {
    "retrain/": (403, 403, 302),
    "generations/open-first/": (403, 403, 302),
    "settings/state/": (403, 403, 302),
    "models/import/": (403, 403, 302),
    "models/1/domain/": (403, 403, 302),
    **{f"models/1/{name}/": (403, 403, 302) for name in ("promote", "pin", "audit", "export", "measure", "rescore")},
    "queue/change/": (403, 403, 302),
    "quality/set-aside/": (403, 403, 302),
    "review/0/decide/": (403, 404, 404),
    "review/labels/0/send-back/": (403, 404, 404),
    "review/sent-back/0/take-back/": (403, 404, 404),
    "gold/mark-many/": (403, 302, 302),
    "gold/mark/": (403, 404, 404),
    "gold/0/retire/": (403, 404, 404),
    "members/0/screen/": (403, 403, 404),
    "members/0/machine/": (403, 403, 404),
    "members/0/machine/tokens/": (403, 403, 404),
    "members/0/machine/tokens/0/revoke/": (403, 403, 404),
    "members/new-machine/": (403, 403, 200),
    "serving/limits/": (403, 403, 400),
    "answers/": (403, 403, 302),
    "jobs/answers/0/cancel/": (403, 403, 404),
    "jobs/run/0/cancel/": (403, 403, 404),
    "jobs/pool/0/resume/": (403, 403, 404),
    "jobs/nothing/0/cancel/": (403, 403, 404),
    "jobs/simulation/0/resume/": (403, 403, 404),
    "import/": (403, 403, 200),
    "import/preview/": (403, 403, 400),
    "import/steps/": (403, 403, 200),
    "import/groups/0/cancel/": (403, 403, 404),
    "import/test-results/": (403, 403, 200),
    "sample/": (403, 403, 200),
    "sample/preview/": (403, 403, 200),
    "judge/": (403, 403, 200),
    "judge/preview/": (403, 403, 200),
    "datasets/": (403, 403, 302),
    "datasets/preview/": (403, 403, 200),
    "datasets/schedules/": (403, 403, 200),
    "datasets/schedules/0/change/": (403, 403, 404),
    "members/": (403, 403, 200),
    "settings/webhooks/": (403, 403, 200),
    "settings/webhooks/0/": (403, 403, 404),
    "settings/webhooks/0/test/": (403, 403, 404),
    "settings/webhooks/0/deliveries/0/redeliver/": (403, 403, 404),
}
ROLES = ("annotator", "reviewer", "manager")


def client_of(people: dict[str, User], role: str) -> Client:
    client = Client()
    if role != "nobody":
        client.force_login(people[role])
    return client


@pytest.mark.slow
@pytest.mark.parametrize("address", PAGES)
def test_pages_open_by_role(project: Project, people: dict[str, User], address: str) -> None:
    """A superuser opens every project; to a stranger it does not exist."""
    answers = dict(zip(ROLES, PAGES[address], strict=True)) | {"stranger": 404, "nobody": 302}
    answers["superuser"] = answers["manager"]
    assert {role: client_of(people, role).get(f"/p/algebra/{address}").status_code for role in answers} == answers


@pytest.mark.slow
@pytest.mark.parametrize("action", ACTIONS)
def test_actions_by_role(project: Project, people: dict[str, User], action: str) -> None:
    """The manager comes last, because only their requests may change something."""
    answers = {"stranger": 404, "nobody": 302} | dict(zip(ROLES, ACTIONS[action], strict=True))
    responses = {role: client_of(people, role).post(f"/p/algebra/{action}") for role in answers}
    assert {role: response.status_code for role, response in responses.items()} == answers
    assert responses["nobody"].headers["Location"].startswith("/accounts/login/")


def test_after_signing_in_again_the_page_with_the_form_opens(client: Client, project: Project) -> None:
    """A form's own address answers no GET."""
    page = "http://testserver/p/algebra/runs/?state=done"
    response = client.post("/p/algebra/retrain/", headers={"referer": page})
    assert response.headers["Location"] == "/accounts/login/?next=/p/algebra/runs/%3Fstate%3Ddone"
    assert "You were signed out, so nothing was changed." in client.get(response.headers["Location"]).content.decode()
    response = client.post("/p/algebra/retrain/", headers={"referer": "https://elsewhere.example/p/"})
    assert response.headers["Location"] == "/accounts/login/?next=/"


def test_a_part_of_a_page_leads_the_whole_page_to_signing_in(client: Client, project: Project) -> None:
    """A redirect would replace the list or the run on the page with nothing."""
    headers = {"hx-request": "true", "referer": "http://testserver/p/algebra/jobs/"}
    response = client.get("/p/algebra/jobs/?state=done", headers=headers)
    assert response.status_code == 200
    assert response.headers["HX-Redirect"] == "/accounts/login/?next=/p/algebra/jobs/"


@pytest.mark.parametrize(
    ("action", "above"),
    [
        ("retrain/", ""),
        ("generations/open-first/", "generations/"),
        ("settings/state/", "settings/"),
        ("jobs/run/1/cancel/", "jobs/"),
    ],
)
def test_actions_are_never_done_by_a_link(
    client: Client, project: Project, people: dict[str, User], action: str, above: str
) -> None:
    """A reload leads to the page above: browsers show no page for an empty answer."""
    client.force_login(people["manager"])
    response = client.get(f"/p/algebra/{action}")
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert f'<a class="button primary" href="/p/algebra/{above}">' in response.content.decode()


def test_a_post_needs_the_token_of_the_page(project: Project, people: dict[str, User]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people["manager"])
    assert client.post("/p/algebra/settings/state/", {"state": "paused"}).status_code == 403


@pytest.mark.parametrize(
    ("role", "run", "job"),
    [("annotator", 403, 403), ("reviewer", 200, 403), ("manager", 200, 200), ("stranger", 404, 404), (None, 302, 302)],
)
def test_runs_and_imports_by_role(
    client: Client, project: Project, people: dict[str, User], role: str, run: int, job: int
) -> None:
    if role:
        client.force_login(people[role])
    assert client.get(f"/p/algebra/runs/{TrainingRun.objects.get().number}/").status_code == run
    assert client.get(f"/imports/{ImportJob.objects.get().pk}/").status_code == job
    assert client.get(f"/imports/{ImportJob.objects.get().pk}/rejected/").status_code == job


def test_what_belongs_to_another_project_is_not_there(
    client: Client, project: Project, people: dict[str, User]
) -> None:
    create_project(by=people["second"], name="Other", slug="other")
    client.force_login(people["second"])
    solution = project.solutions.first()
    version = project.model_versions.get()
    assert client.get(f"/p/other/solutions/{solution.pk}/").status_code == 404
    assert client.post(f"/p/other/models/{version.pk}/promote/").status_code == 404
    assert client.post(f"/p/other/disputes/{project.disputes.get().pk}/decide/").status_code == 404
    assert client.post(f"/p/other/members/{project.memberships.first().pk}/").status_code == 404
