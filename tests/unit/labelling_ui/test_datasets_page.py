"""The page of datasets: presets, the preview, snapshots and their downloads."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils.html import escape

from annotation.labels.datasets import snapshot_preview
from annotation.labels.datasets.export_jobs import run_export
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.presets import PRESETS
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import AuditEntry, Project, Snapshot
from labelling_ui.pages.dataset_contents import grouped_formats, title_of
from labelling_ui.pages.dataset_filters import NAMES, SnapshotForm, policies_of
from labelling_ui.templatetags.figures import estimate
from prm.exporters import EXPORTERS
from tests.factories import SnapshotFactory, SolutionFactory
from tests.stored import snapshot_file
from tests.unit.annotation.labels.datasets.test_exports import by
from tests.unit.annotation.labels.datasets.test_snapshots import solution, take_in

PAGE = "/p/algebra/datasets/"


@pytest.fixture
def manager(client: Client, people: dict[str, User], settings: Any, tmp_path: Path) -> Client:
    settings.STATE_ROOT = tmp_path
    client.force_login(people["manager"])
    return client


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def run_latest(project: Project) -> Snapshot | None:
    """Do the work of the worker."""
    run_export(project.export_jobs.latest("pk").pk)
    return project.export_jobs.latest("pk").snapshot


def preview(client: Client, preset: str = "share", **filters: Any) -> str:
    return text(client.post(f"{PAGE}preview/?preset={preset}", filters))


@pytest.mark.parametrize("preset", PRESETS)
def test_the_form_of_a_preset_sends_its_filters(project: Project, preset: str) -> None:
    filters = PRESETS[preset].filters_for(project)
    begun = SnapshotForm(project=project, filters=filters)
    sent = {name: value for name in begun.fields if (value := begun[name].value()) is not None}
    form = SnapshotForm(sent, project=project)
    assert form.is_valid(), form.errors
    assert parse_filters(form.filters()) == parse_filters(filters)


def test_every_filter_is_in_a_group_of_the_form(project: Project) -> None:
    form = SnapshotForm(project=project)
    grouped = [field.name for _, fields in form.groups() for field in fields]
    assert len(grouped) == len(set(grouped))
    assert {*NAMES} <= set(form.fields)
    without_options = set(form.fields) - set(grouped)
    assert all(not form.fields[name].choices for name in without_options)  # type: ignore[attr-defined]


def test_the_page_begins_with_the_first_preset_and_marks_the_one_chosen(manager: Client, project: Project) -> None:
    for address, chosen in ((PAGE, "train"), (f"{PAGE}?preset=archive", "archive"), (f"{PAGE}?preset=none", "train")):
        page = text(manager.get(address))
        assert f'href="?preset={chosen}" aria-current="true"' in page
        assert all(str(preset.summary) in page for preset in PRESETS.values())
        assert len(re.findall(r'href="\?preset=\w+" aria-current', page)) == 1


def test_a_preview_shows_the_contents_and_makes_nothing(manager: Client, project: Project) -> None:
    shown = preview(manager, min_annotations=1)
    assert "Solutions in the dataset: 1. Labels: 2." in shown
    assert "for 1 problem<" in shown
    assert "people 2" in shown
    assert shown.index("Parquet") < shown.index("Other formats")
    assert "PRM800K" not in shown
    others = preview(manager, "share&others", min_annotations=1)
    assert "PRM800K" in others
    assert "Parquet</th>" not in others.replace("TRL, Parquet", "")
    assert "Solutions in the dataset" not in others
    assert not Snapshot.objects.exists()


def sample_is(solution: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let previews read this solution alone."""
    monkeypatch.setattr(snapshot_preview, "SAMPLE", 1)
    monkeypatch.setattr(snapshot_preview.random.Random, "sample", lambda self, ids, k: [solution])


def test_a_preview_of_a_sample_is_marked_as_an_estimate(
    manager: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample_is(project.annotations.values_list("solution", flat=True)[0], monkeypatch)
    shown = preview(manager, min_annotations=0)
    assert "Estimated from a random sample of 1 of 3 solutions." in shown
    assert "about 3" in shown
    assert "for at least 1 problem<" in shown
    assert re.search(r"People.*?at least \d</dd>", shown)
    assert (estimate(80312), estimate(80312, True), estimate(7)) == ("about 80,000", "80,312", "about 7")


def test_a_sample_without_labels_does_not_count_people(
    manager: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample_is(project.solutions.filter(annotations=None).values_list("pk", flat=True)[0], monkeypatch)
    shown = preview(manager, min_annotations=0)
    assert re.search(r"People.*?–</dd>", shown)
    assert "at least 0" not in shown


def test_a_preview_says_what_is_wrong_with_the_filters_and_that_nothing_passes(
    manager: Client, project: Project
) -> None:
    assert "Minimum labels per solution: Ensure this value is greater" in preview(manager, min_annotations=-1)
    assert "No label passes these filters" in preview(manager, lanes=["gold"])


def test_a_snapshot_is_made_and_downloaded(manager: Client, project: Project) -> None:
    making = manager.post(PAGE, {"splits": ["pool"], "generations": ["0"]}, follow=True)
    assert 'hx-select="#making" hx-trigger="every 1s"' in text(making)
    assert 'role="progressbar"' in text(making)
    snapshot = run_latest(project)
    assert snapshot
    made = text(manager.get(f"{PAGE}?job={project.export_jobs.get().pk}", headers={"HX-Request": "true"}))
    assert "every 1s" not in made
    assert 'hx-trigger="load" hx-select="#list"' in made, "the list shows the new snapshot"
    assert f'href="{PAGE}{snapshot.pk}/">Open the snapshot' in made
    assert (snapshot.filters["splits"], snapshot.filters["generations"]) == (["pool"], [0])
    for format in ("prm800k", "trl", "records"):
        response = manager.get(f"{PAGE}{snapshot.pk}/{format}/")
        assert b"".join(response).startswith(b"{")
        assert format in response.headers["Content-Disposition"]
    exports = AuditEntry.objects.filter(action="snapshot.export", target_id=str(snapshot.pk), by__username="manager")
    assert sorted(entry.after["format"] for entry in exports) == ["prm800k", "records", "trl"]
    assert {entry.after["via"] for entry in exports} == {"page"}
    card = manager.get(f"{PAGE}{snapshot.pk}/card/")
    assert "# Algebra pilot" in card.content.decode()
    assert manager.get(f"{PAGE}{snapshot.pk}/nonsense/").status_code == 404


def test_a_snapshots_page_shows_its_graded_solutions(manager: Client, project: Project) -> None:
    plain = create_snapshot(by=None, project=project, filters={})
    assert "Graded solutions" not in text(manager.get(f"{PAGE}{plain.pk}/"))
    SolutionFactory(project=project, final_answer_correct=False)
    snapshot = create_snapshot(by=None, project=project, filters={"graded": 5})
    page = text(manager.get(f"{PAGE}{snapshot.pk}/"))
    assert "0 with a right and 1 with a wrong final answer." in page
    assert snapshot.graded_sha256 in page
    shown = manager.get(f"/api/v1/snapshots/{snapshot.pk}/").json()
    assert (shown["graded_sha256"], shown["counts"]["graded"]) == (snapshot.graded_sha256, {"right": 0, "wrong": 1})
    assert [plan["solutions"] for plan in shown["exports"] if plan["format"] == "records"] == [1]


def test_a_snapshots_page_and_the_api_show_its_monte_carlo_estimates(manager: Client, project: Project) -> None:
    take_in(project, solution("another problem", by("monte_carlo", 1, -1, name="policy, 8 rollouts")))
    snapshot = create_snapshot(by=None, project=project, filters={"source_kinds": ["human"], "estimates": 5})
    made = manager.get(f"/api/v1/snapshots/{snapshot.pk}/").json()
    assert (made["counts"]["estimated"], made["graded_sha256"]) == (1, snapshot.graded_sha256)
    page = text(manager.get(f"{PAGE}{snapshot.pk}/"))
    assert "Other solutions with estimates: 1." in page
    assert "final answer. Nobody" not in page


def test_every_exporter_has_one_place_among_the_downloads(manager: Client, project: Project) -> None:
    grouped = [format for _, formats in grouped_formats() for format in formats]
    assert sorted(grouped) == sorted(EXPORTERS)
    snapshot = create_snapshot(by=None, project=project, filters={})
    page = text(manager.get(f"{PAGE}{snapshot.pk}/"))
    assert [format for format in EXPORTERS if f">{escape(title_of(format))}<" not in page] == []


def test_a_snapshots_page_says_before_the_download_what_a_file_leaves_out(manager: Client, project: Project) -> None:
    take_in(project, *(solution(f"problem {'x' * n}", by("human", 1, 1, 1, name="ann")) for n in range(40)))
    snapshot = create_snapshot(by=None, project=project, filters={})
    count = snapshot.counts["splits"]
    page = text(manager.get(f"{PAGE}{snapshot.pk}/"))
    assert f"<li>{count['calibration']} calibration solutions</li><li>{count['holdout']} holdout solutions</li>" in page
    assert f"{PAGE}{snapshot.pk}/trl/?splits=pool&amp;splits=calibration&amp;splits=holdout" in page
    snapshot_file(snapshot).unlink()
    assert "the file is missing" in text(manager.get(f"{PAGE}{snapshot.pk}/"))


def test_a_format_that_cannot_state_kinds_mixes_them_only_on_request(manager: Client, project: Project) -> None:
    take_in(project, solution("p", by("human", 1, 1, 1, name="ann"), by("model_judge", 1, 1, 1, name="judge")))
    snapshot = create_snapshot(by=None, project=project, filters={})
    address = f"{PAGE}{snapshot.pk}/trl/"
    assert "which TRL cannot distinguish" in text(manager.get(address, follow=True))
    assert f'href="{address}?mixed_kinds=allow"' in text(manager.get(f"{PAGE}{snapshot.pk}/"))
    assert b"completions" in b"".join(manager.get(f"{address}?mixed_kinds=allow"))


def test_an_empty_or_changed_file_is_refused_on_the_page(manager: Client, project: Project, tmp_path: Path) -> None:
    snapshot = create_snapshot(by=None, project=project, filters={"splits": ["pool"]})
    empty = manager.get(f"{PAGE}{snapshot.pk}/trl/?splits=holdout", follow=True)
    assert "The file would be empty" in text(empty)
    file = tmp_path / "snapshots" / snapshot.path
    file.chmod(0o640)
    file.write_bytes(file.read_bytes() + b"\n")
    for format in ("prm800k", "trl", "csv", "parquet"):
        changed = manager.get(f"{PAGE}{snapshot.pk}/{format}/", follow=True)
        assert "was changed after the snapshot was made" in text(changed)
    assert "snapshot whose file was changed" in text(manager.get("/p/algebra/"))


def test_nothing_to_snapshot_says_so(manager: Client, project: Project) -> None:
    manager.post(PAGE, {"lanes": ["gold"]})
    assert run_latest(project) is None
    page = text(manager.get(f"{PAGE}?job={project.export_jobs.get().pk}"))
    assert "No label in this project matches" in page
    refused = text(manager.post(PAGE, {"min_annotations": "-1"}))
    assert "<details open>" in refused


def test_a_row_shows_who_made_the_snapshot_and_how_large_it_is(
    manager: Client, project: Project, people: dict[str, User]
) -> None:
    create_snapshot(by=people["manager"], project=project, filters={})
    page = text(manager.get(PAGE))
    assert '<span class="muted small">manager</span>' in page
    assert "kB" in page


def test_a_snapshot_is_compared_with_the_last_one_of_the_same_filters(manager: Client, project: Project) -> None:
    first = create_snapshot(by=None, project=project, filters={})
    other = create_snapshot(by=None, project=project, filters={"source_kinds": ["human"]})
    last = SnapshotFactory(project=project, filters={}, counts=first.counts, path=first.path)
    page = text(manager.get(PAGE))
    assert f"{PAGE}{last.pk}/diff/{first.pk}/" in page
    assert f"{PAGE}{other.pk}/diff/{first.pk}/" in page, "the one before, if none has the same filters"
    assert f"{PAGE}{first.pk}/diff/" not in page
    assert f"{PAGE}{last.pk}/diff/{first.pk}/" in text(manager.get(f"{PAGE}{last.pk}/"))


def test_a_schedule_is_made_paused_and_deleted(manager: Client, project: Project, settings: Any) -> None:
    page = f"{PAGE}schedules/"
    assert "No storage is connected" in text(manager.get(page))
    settings.EXPORT_ROOTS = {"lake": {"url": "/lake", "options": {}}}
    plan = {"name": "Weekly", "preset": "train", "formats": ["trl", "records"], "root": "lake", "every_days": "7"}
    shown = text(manager.post(page, plan | {"path": "algebra"}, follow=True))
    assert "Scheduled." in shown
    assert all(words in shown for words in ("every 7 days", "lake: algebra", "TRL, Stepmark records"))
    schedule = project.export_schedules.get()
    assert (schedule.filters["splits"], schedule.formats) == (["pool"], ["trl", "records"])
    assert "There is already a scheduled export named" in text(manager.post(page, plan))
    never = text(manager.post(page, plan | {"name": "Never", "every_days": ""}))
    assert "A scheduled export needs a number of days" in never
    assert project.export_schedules.count() == 1
    change = f"{page}{schedule.pk}/change/"
    assert "paused" in text(manager.post(change, {"action": "pause"}, follow=True))
    assert "Resumed" in text(manager.post(change, {"action": "resume"}, follow=True))
    assert manager.post(change, {"action": "explode"}).status_code == 400
    manager.post(change, {"action": "delete"})
    assert not project.export_schedules.exists()


def test_the_form_offers_each_policy_model_once(project: Project, django_assert_num_queries: Any) -> None:
    other = SolutionFactory(generator="of another project")
    for split, generator in [("pool", "b"), ("pool", ""), ("holdout", "b"), ("holdout", "a"), ("pool", "b")]:
        SolutionFactory(project=project, generator=generator, split=split, problem__split=split)
    with django_assert_num_queries(1) as asked:
        assert policies_of(project) == ["", "a", "b", "model-a"]
    assert policies_of(other.project) == ["of another project"]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN {asked[0]['sql']}")
        plan = [line for (line,) in cursor.fetchall()]
    assert sum("Index Only Scan using solution_project_split" in line for line in plan) == 2, plan
    offered: Any = SnapshotForm(project=project).fields["policies"]
    assert [value for value, _label in offered.choices] == ["a", "b", "model-a"]
