"""The page of datasets: presets, the preview, snapshots and their downloads."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.labels.datasets import snapshot_preview
from annotation.labels.datasets.export_jobs import run_export
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.presets import PRESETS
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import AuditEntry, Project, Snapshot
from labelling_ui.pages.dataset_contents import grouped_formats
from labelling_ui.pages.dataset_filters import NAMES, SnapshotForm
from labelling_ui.templatetags.figures import estimate
from prm.exporters import EXPORTERS
from tests.factories import SnapshotFactory

PAGE = "/p/algebra/datasets/"


@pytest.fixture
def manager(client: Client, people: dict[str, User], settings: Any, tmp_path: Path) -> Client:
    settings.SNAPSHOT_ROOT = tmp_path
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
    assert shown.index("Parquet") < shown.index("Other formats") < shown.index("PRM800K")
    assert not Snapshot.objects.exists()


def test_a_preview_of_a_sample_is_marked_as_an_estimate(
    manager: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_preview, "SAMPLE", 1)
    shown = preview(manager, min_annotations=0)
    assert "Estimated from a random sample of 1 of 3 solutions." in shown
    assert "about 3" in shown
    assert "at least" in shown
    assert (estimate(80312), estimate(80312, True), estimate(7)) == ("about 80,000", "80,312", "about 7")


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


def test_every_exporter_has_one_place_among_the_downloads(manager: Client, project: Project) -> None:
    grouped = [format for _, formats in grouped_formats() for format in formats]
    assert sorted(grouped) == sorted(EXPORTERS)
    snapshot = SnapshotFactory(project=project, counts={"splits": {"pool": 1}, "source_kinds": {"human": 1}})
    page = text(manager.get(f"{PAGE}{snapshot.pk}/"))
    assert [format for format in EXPORTERS if f"/{snapshot.pk}/{format}/" not in page] == []


def test_a_snapshots_page_says_before_the_download_what_a_file_leaves_out(manager: Client, project: Project) -> None:
    counts = {"splits": {"pool": 1, "calibration": 1, "holdout": 2}, "source_kinds": {"human": 4}}
    snapshot = SnapshotFactory(project=project, counts=counts)
    page = text(manager.get(f"{PAGE}{snapshot.pk}/"))
    assert "<li>1 calibration solution</li><li>2 holdout solutions</li>" in page
    assert f"{PAGE}{snapshot.pk}/trl/?splits=pool&amp;splits=calibration&amp;splits=holdout" in page
    assert "the file is missing" in page


def test_an_empty_or_changed_file_is_refused_on_the_page(manager: Client, project: Project, tmp_path: Path) -> None:
    snapshot = create_snapshot(by=None, project=project, filters={"splits": ["pool"]})
    empty = manager.get(f"{PAGE}{snapshot.pk}/trl/?splits=holdout", follow=True)
    assert "The file would be empty" in text(empty)
    file = tmp_path / snapshot.path
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
