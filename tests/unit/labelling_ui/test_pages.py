"""The pages of a project with some work, for its manager."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.models import AuditEntry, ImportJob, Membership, ModelVersion, Project, TrainingRun
from tests import manager_world
from tests.factories import ModelVersionFactory, QueueItemFactory

EMPTY = {
    "": "This project has no solutions yet",
    "labels/": "No labels yet",
    "solutions/": "No solutions yet",
    "disputes/": "No disputes",
    "review/": "No items to review",
    "quality/": "No suspicious batches",
    "generations/": "A generation needs solutions to choose from",
    "runs/": "No runs yet",
    "models/": "No models yet",
    "import/": "No imports yet",
    "datasets/": "There are no labels yet",
}
MOST_QUERIES = {
    "": 37,
    "labels/": 12,
    "solutions/": 12,
    "disputes/": 10,
    "review/": 12,
    "quality/": 18,
    "generations/": 10,
    "generations/0/": 16,
    "runs/": 14,
    "models/": 10,
    "import/": 10,
    "datasets/": 15,
    "members/": 12,
    "audit/": 24,
}


@pytest.mark.parametrize("address", EMPTY)
def test_an_empty_page_names_the_next_thing_to_do(manager: Client, empty_project: Project, address: str) -> None:
    assert EMPTY[address] in manager.get(f"/p/algebra/{address}").content.decode()


@pytest.mark.parametrize("address", ["", "models/", "models/1/"])
def test_a_champion_that_was_never_measured_is_shown_as_such(
    manager: Client, empty_project: Project, address: str
) -> None:
    ModelVersionFactory(project=empty_project, number=1, state=ModelVersion.State.CHAMPION, promoted_at=timezone.now())
    manager_world.make_solution(empty_project, 1)
    shown = manager.get(f"/p/algebra/{address}")
    assert shown.status_code == 200
    if not address:
        assert "model 1, not measured" in shown.content.decode()


@pytest.mark.slow
def test_queries_do_not_grow_with_the_rows(
    manager: Client, project: Project, django_assert_max_num_queries: Callable[..., Any], people: dict[str, User]
) -> None:
    for address in MOST_QUERIES:
        manager.get(f"/p/algebra/{address}")
    manager_world.grow(project, people)
    for address, most in MOST_QUERIES.items():
        with django_assert_max_num_queries(most, info=address):
            assert manager.get(f"/p/algebra/{address}").status_code == 200


def test_the_first_line_of_the_project_page(manager: Client, project: Project) -> None:
    page = manager.get("/p/algebra/").content.decode()
    for figure in ("/ 6", "of 1 pair", "62.0", "95&nbsp;% interval 55.0 to 69.0", "42 s"):
        assert figure in page
    for concern in ("disputed reference", "people disagree on", "rejected import line"):
        assert concern in page
    assert "1 solution of the pool is labelled and a round needs 20" in page


def test_ratings_are_in_the_order_of_their_positions(
    manager: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if one kind of rating is missing at a position."""
    counts = [(0, "good", 5), (9, "bad", 1), (10, "good", 2)]
    monkeypatch.setattr("labelling_ui.selectors.progress.ratings_by_position", lambda *_, **__: counts)
    [chart] = [one for one in manager.get("/p/algebra/").context["charts"] if one.title == "Ratings by position"]
    assert [row[0] for row in chart.rows] == ["1", "10", "11"]


def test_solutions_are_filtered_by_what_was_said_of_them(manager: Client, project: Project) -> None:
    listed = manager.get("/p/algebra/solutions/?disagreement=on").context["listing"].page
    assert [solution.labels for solution in listed] == [2]
    assert manager.get("/p/algebra/solutions/?annotated=no").context["listing"].page.paginator.count == 2


def test_solutions_show_what_made_them_and_are_filtered_by_it(manager: Client, project: Project) -> None:
    one = project.solutions.order_by("pk").first()
    made = {"policy": "solver@step400", "prompt": "Solve: <b>", "visibility": "summary", "run": "rl-7"}
    project.solutions.filter(pk=one.pk).update(
        provenance=made, generator="solver", final_answer_correct=True, outcome_source="tests"
    )
    for asked, found in (
        ("policy=step400", 1),
        ("policy=rl-7", 1),
        ("visibility=summary", 1),
        ("visibility=unknown", 2),
    ):
        listed = manager.get(f"/p/algebra/solutions/?{asked}").context["listing"].page
        assert listed.paginator.count == found, asked
    page = manager.get(f"/p/algebra/solutions/{one.pk}/").content.decode()
    for said in ("solver@step400", "Solve: &lt;b&gt;", "a summary", "final answer correct (tests that were run)"):
        assert said in page


def test_a_label_of_a_solution_names_its_first_error_once(manager: Client, project: Project) -> None:
    label = project.annotations.filter(finish_reason="found_error", first_error__gte=0).first()
    page = manager.get(f"/p/algebra/solutions/{label.solution_id}/").content.decode()
    assert f": first error: step {label.first_error + 1} ·" in page
    assert ": first error ·" not in page


def test_results_of_tests_are_taken_on_a_page_and_what_was_refused_is_said(manager: Client, project: Project) -> None:
    one = project.solutions.order_by("pk").first()
    project.solutions.filter(pk=one.pk).update(external_id="s1")
    lines = b'{"id": "s1", "passed": 2, "failed": 1}\n{"id": "<s2>", "passed": 1}\n'
    page = manager.post("/p/algebra/import/test-results/", {"file": SimpleUploadedFile("r.jsonl", lines)})
    assert "no solution in this project has this id" in page.content.decode()
    assert "&lt;s2&gt;" in page.content.decode()
    one.refresh_from_db()
    assert (one.final_answer_correct, one.outcome_source) == (False, "tests")
    page = manager.post("/p/algebra/import/test-results/", {"file": SimpleUploadedFile("r.xml", b"<html/>")})
    assert "Expected a JUnit report" in page.content.decode()


def test_lists_filter_sort_and_download_alike(manager: Client, project: Project) -> None:
    page = manager.get("/p/algebra/labels/?finish_reason=found_error&sort=first_error")
    assert [label.first_error for label in page.context["listing"].page] == [1]
    response = manager.get("/p/algebra/labels/?download=csv&sort=first_error")
    rows = list(csv.DictReader(io.StringIO(b"".join(response).decode())))
    assert [row["first_error"] for row in rows] == ["-1", "1"]
    assert response.headers["Content-Disposition"] == 'attachment; filename="algebra-labels.csv"'


def test_an_annotator_sees_their_own_labels_and_no_lane(
    client: Client, project: Project, people: dict[str, User]
) -> None:
    client.force_login(people["annotator"])
    page = client.get("/p/algebra/labels/")
    assert [label.annotator.user for label in page.context["listing"].page] == [people["annotator"]]
    assert "lane" not in page.content.decode().lower()
    asked = client.get("/p/algebra/labels/?lane=control&annotator=1&download=csv")
    assert b"".join(asked).startswith(b"submitted,problem,ended_with,first_error,seconds")


def test_a_nonsense_address_of_a_list_shows_the_list(manager: Client, project: Project) -> None:
    page = manager.get("/p/algebra/solutions/?sort=password&page=nine&generation=x&split=all")
    assert page.context["listing"].page.paginator.count == 3


def test_a_dispute_is_decided_with_a_reason(manager: Client, project: Project, people: dict[str, User]) -> None:
    dispute = project.disputes.get()
    address = f"/p/algebra/disputes/{dispute.pk}/decide/"
    refused = manager.post(address, {"decision": "uphold", "resolution": " "}, follow=True)
    assert "Give a reason for your decision" in refused.content.decode()
    manager.post(address, {"decision": "uphold", "resolution": "It is 1."})
    dispute.refresh_from_db()
    assert (dispute.state, dispute.resolution) == ("upheld", "It is 1.")
    annotator = Client()
    annotator.force_login(dispute.annotation.annotator.user)
    assert "Upheld</span>" in annotator.get("/p/algebra/my-work/").content.decode(), "the same word as in the list"


def test_someone_new_gets_a_password_that_is_shown_once(manager: Client, project: Project) -> None:
    page = manager.post("/p/algebra/members/", {"username": "nina", "role": "reviewer"})
    password = page.context["invited"]["password"]
    assert password in page.content.decode()
    assert Client().login(username="nina", password=password)
    assert password not in manager.get("/p/algebra/members/").content.decode()
    assert not AuditEntry.objects.filter(after__icontains=password).exists()
    assert project.memberships.get(user__username="nina").role == "reviewer"


def test_someone_who_is_there_is_added_by_name(manager: Client, project: Project, people: dict[str, User]) -> None:
    response = manager.post("/p/algebra/members/", {"username": "stranger", "role": "annotator"}, follow=True)
    assert "stranger is now a member." in response.content.decode()
    again = manager.post("/p/algebra/members/", {"username": "stranger", "role": "annotator"})
    assert "is already a member" in again.content.decode()


def test_the_last_manager_stays(manager: Client, project: Project, people: dict[str, User]) -> None:
    own = Membership.objects.get(project=project, user=people["manager"])
    response = manager.post(f"/p/algebra/members/{own.pk}/", {"role": "removed"}, follow=True)
    assert "A project needs a manager" in response.content.decode()
    other = Membership.objects.get(project=project, user=people["annotator"])
    manager.post(f"/p/algebra/members/{other.pk}/", {"role": "manager"})
    manager.post(f"/p/algebra/members/{other.pk}/", {"role": "removed"})
    other.refresh_from_db()
    assert (other.role, other.active) == ("manager", False)


COSTS = {
    "device": "NVIDIA H100 80GB HBM3",
    "processes": 2,
    "peak_flops": 989e12,
    "peak_source": "dense bf16, NVIDIA data sheet",
    "peak_memory_bytes": 61_000_000_000,
    "memory_kind": "allocated on the device",
    "energy_joules": 7200.0,
    "energy_source": "the GPU's counter (NVML), of this process's device",
    "stages": {
        "read": {"seconds": 2.0},
        "train": {
            "seconds": 60.0,
            "tokens": 6_000_000,
            "tokens_per_second": 100_000.0,
            "padded_share": 0.01,
            "utilisation": 0.42,
        },
    },
}


def test_a_run_tells_its_cost(manager: Client, project: Project) -> None:
    version = project.model_versions.first()
    assert version is not None
    version.manifest |= {"costs": COSTS}
    version.save()
    run = project.training_runs.first()
    assert run is not None
    run.model_version = version
    run.save()
    page = manager.get(f"/p/{run.project.slug}/runs/{run.number}/").content.decode()
    figures = (
        "2 × NVIDIA H100",
        "100,000",
        "1.0\xa0%",
        "42.0\xa0%",
        "of 989.00 TFLOP/s",
        "61.00 GB",
        "2.0 Wh",
        "reading 2.0 s, training 60.0 s",
    )
    assert [figure for figure in figures if figure not in page] == []


def test_pause_and_resume(manager: Client, project: Project) -> None:
    manager.post("/p/algebra/settings/state/", {"state": "paused"})
    assert "Paused: no new work is assigned" in manager.get("/p/algebra/").content.decode()
    manager.post("/p/algebra/settings/state/", {"state": "active"})
    project.refresh_from_db()
    assert project.state == "active"


@pytest.mark.parametrize(
    ("counts", "note"),
    [
        ({"rejected": 2}, "Nothing was imported: every record was rejected. The reasons are below."),
        ({"duplicates": 2}, "Every record in this file was already in the project."),
        ({"duplicates": 2, "rejected": 1}, "Nothing was imported: every new record was rejected."),
        ({"accepted": 1, "rejected": 1}, None),
        ({"accepted": 1, "duplicates": 1}, None),
        ({"state": "running", "rejected": 2}, None),
    ],
)
def test_an_import_that_brought_nothing_says_why(
    manager: Client, project: Project, counts: dict[str, Any], note: str | None
) -> None:
    job = ImportJob.objects.create(project=project, filename="a.jsonl", path="x", **({"state": "done"} | counts))
    page = manager.get(f"/imports/{job.pk}/").content.decode()
    assert note in page if note else 'class="note' not in page


def test_too_few_labels_keep_the_retrain_button_shut(manager: Client, project: Project) -> None:
    assert "disabled" in manager.get("/p/algebra/runs/").content.decode()
    response = manager.post("/p/algebra/retrain/", follow=True)
    assert "a round needs 20" in response.content.decode()


def test_the_runs_page_and_the_api_say_what_the_gate_could_detect(manager: Client, project: Project) -> None:
    forecast = manager.get("/api/v1/projects/algebra/gate/").json()
    assert (forecast["solutions"], forecast["least"], forecast["detectable"]) == (0, 20, None)
    assert "0 labelled holdout solutions, and the gate measures from 20" in forecast["sentence"]
    assert forecast["sentence"] in strip_tags(manager.get("/p/algebra/runs/").content.decode())


def test_a_run_asks_again_only_while_it_runs(manager: Client, project: Project) -> None:
    run = TrainingRun.objects.get()
    page = manager.get(f"/p/{run.project.slug}/runs/{run.number}/").content.decode()
    assert "hx-trigger" not in page
    assert "Model 1 is promoted" in page
    TrainingRun.objects.filter(pk=run.pk).update(state="running", finished_at=None)
    page = manager.get(f"/p/{run.project.slug}/runs/{run.number}/").content.decode()
    assert 'hx-select="#run" hx-trigger="every 1500ms"' in page


def test_a_page_that_looks_again_leaves_messages_to_the_page_that_is_opened(manager: Client, project: Project) -> None:
    manager.post("/p/algebra/settings/state/", {"state": "paused"})
    assert (
        "No new work is assigned"
        not in manager.get("/p/algebra/runs/", headers={"HX-Request": "true"}).content.decode()
    )
    assert "No new work is assigned" in manager.get("/p/algebra/runs/").content.decode()


@pytest.mark.parametrize(("typed", "meant"), [("\\n\\n", "\n\n"), ("\\", "\\"), ("", "\n"), ("шаг", "шаг")])
def test_an_import_takes_any_separator(
    manager: Client, project: Project, settings: Any, tmp_path: Path, typed: str, meant: str
) -> None:
    settings.STATE_ROOT = tmp_path
    (tmp_path / "models" / "imports" / "theirs").mkdir(parents=True)
    manager.post("/p/algebra/models/import/", {"folder": "theirs", "separator": typed, "good": "1"})
    assert project.model_jobs.get().source.separator == meant


def test_a_round_for_an_import_is_not_put_down_to_the_clock(manager: Client, project: Project) -> None:
    run = project.training_runs.get()
    run.trigger = "import"
    run.save()
    for address in ("/p/algebra/runs/", f"/p/{run.project.slug}/runs/{run.number}/"):
        page = manager.get(address).content.decode()
        assert "clock" not in page
        assert "imported" in page
        assert 'href="/p/algebra/models/1/"' in page


def test_the_page_of_a_solution_says_that_it_waits_and_who_may_be_asked(
    manager: Client, empty_project: Project, people: dict[str, User]
) -> None:
    item = QueueItemFactory(generation__project=empty_project)
    member = empty_project.memberships.get(user=people["annotator"])
    page = manager.get(f"/p/algebra/solutions/{item.solution_id}/").content.decode()
    assert "It is in the queue." in page
    assert f'<option value="{member.pk}">{member.user.username}</option>' in page


def test_the_number_in_a_runs_address_is_the_one_in_its_title(manager: Client, project: Project) -> None:
    run = project.training_runs.get()
    TrainingRun.objects.filter(pk=run.pk).update(number=run.pk + 7)
    address = f"/p/algebra/runs/{run.pk + 7}/"
    assert f">Run {run.pk + 7}</a></h1>" in manager.get(address).content.decode()
    assert f'href="{address}"' in manager.get("/p/algebra/runs/").content.decode()
    assert manager.get(f"/p/algebra/runs/{run.pk}/").status_code == 404
