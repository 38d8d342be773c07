"""Presets state what a dataset is for: which labels it has, and the formats to download."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.core.errors import DomainError
from annotation.labels.datasets.filters import SnapshotFilters, parse_filters
from annotation.labels.datasets.presets import PRESETS, preset_filters
from annotation.models import Snapshot
from prm.exporters import EXPORTERS
from tests.unit.annotation.labels.datasets.test_exports import by
from tests.unit.annotation.labels.datasets.test_snapshots import solution, take_in


def judged(project):
    take_in(
        project, solution("judged", by("model_judge", 1, 1, 1, name="judge"), by("heuristic", 1, 1, 1, name="rule"))
    )


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_has_filters_and_formats_that_exist(project, name):
    parse_filters(PRESETS[name].filters_for(project))
    assert PRESETS[name].formats
    assert set(PRESETS[name].formats) <= set(EXPORTERS)


def test_archive_includes_everything_that_a_snapshot_leaves_out_by_default(project):
    archived = parse_filters(PRESETS["archive"].filters_for(project))
    assert archived == SnapshotFilters(
        min_annotations=0, revisions="all", set_aside="included", gold="included", critiques="included"
    )


def test_one_kind_is_people_if_the_project_has_their_labels(project):
    assert "source_kinds" not in preset_filters(project, "train", {})
    judged(project)
    assert preset_filters(project, "train", {})["source_kinds"] == ["model_judge"]
    take_in(project, solution("read", by("human", 1, 1, 1, name="ann")))
    assert preset_filters(project, "train", {})["source_kinds"] == ["human"]


def test_filters_replace_those_of_the_preset(project):
    own = preset_filters(project, "evaluate", {"splits": ["calibration"], "min_annotations": 2})
    assert own == {"splits": ["calibration"], "hints": "left_out", "min_annotations": 2}
    assert preset_filters(project, "", {"splits": ["pool"]}) == {"splits": ["pool"]}
    with pytest.raises(DomainError, match=r"There is no preset 'all'\. Choose one of: train, evaluate"):
        preset_filters(project, "all", {})


def test_a_program_and_the_shell_name_a_preset(project, manager, settings, tmp_path):
    settings.STATE_ROOT = tmp_path
    judged(project)
    client = Client()
    client.force_login(manager)
    address = f"/api/v1/projects/{project.slug}/exports/"
    body = {"preset": "archive", "filters": {"critiques": "left_out"}}
    made = client.post(address, json.dumps(body), content_type="application/json").json()
    assert made["filters"] == {
        "min_annotations": 0,
        "revisions": "all",
        "set_aside": "included",
        "gold": "included",
    }
    unknown = client.post(address, json.dumps({"preset": "all"}), content_type="application/json").json()
    assert (unknown["code"], unknown["extra"]) == ("unknown_preset", {"field": "preset"})
    call_command(
        "export_snapshot", str(tmp_path / "all.jsonl"), project=project.slug, preset="archive", format="records"
    )
    assert Snapshot.objects.latest("pk").filters["critiques"] == "included"
    with pytest.raises(CommandError, match="invalid choice: 'all'"):
        call_command("export_snapshot", "all.jsonl", "--project", project.slug, "--preset", "all")
