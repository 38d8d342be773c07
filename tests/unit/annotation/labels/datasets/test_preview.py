"""A preview states what a snapshot would have, before it is made."""

from datetime import UTC, datetime

import pytest

from annotation.core.errors import DomainError
from annotation.labels.consensus.fits import choose_fit
from annotation.labels.datasets import snapshot_preview
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.plans import plan_export
from annotation.labels.datasets.snapshot_preview import preview_snapshot
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Snapshot
from prm.exporters import EXPORTERS
from tests.unit.annotation.labels.datasets.test_exports import by
from tests.unit.annotation.labels.datasets.test_snapshots import rated, solution, stream, take_in


def fill(project, several=40):
    """Solutions of all splits; every third has a judge's label too, and one has no label."""
    records = []
    for number in range(several):
        labels = [rated(1, 0, -1, finish="found_error") if number % 2 else rated(1, None, 1, name="bob")]
        labels += [by("model_judge", 1, 1, 1, name="judge")] if number % 3 == 0 else []
        records.append(solution(f"problem {'x' * number}", *labels))
    take_in(project, *records, solution("unread"))


def statement(plan):
    return plan.format, plan.splits, plan.solutions, plan.sentences(), plan.refusal and plan.refusal.message


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"splits": ["pool", "holdout"]},
        {"source_kinds": ["human"]},
        {"source_kinds": ["model_judge"]},
        {"finish_reasons": ["found_error"]},
        {"min_annotations": 0},
        {"min_annotations": 2},
        {"consensus": "reliability"},
        {"agreement": {"sources": ["human", "model_judge"], "keep": "differing"}},
    ],
)
def test_a_preview_counts_what_the_snapshot_has(project, manager, filters):
    fill(project)
    choose_fit(by=manager, project=project, filters=parse_filters(filters))
    preview = preview_snapshot(project, filters, formats=tuple(EXPORTERS))
    assert preview.exact
    assert not Snapshot.objects.exists()
    snapshot = create_snapshot(by=manager, project=project, filters=filters)
    assert {**preview.counts, "exports": None} == {**snapshot.counts, "exports": None}
    planned = [plan_export(snapshot, format) for format in EXPORTERS]
    assert list(map(statement, preview.plans)) == list(map(statement, planned))


def test_a_preview_of_nothing_and_of_unknown_filters(project):
    fill(project)
    preview = preview_snapshot(project, {"lanes": ["gold"]}, formats=["trl", "records"])
    assert (preview.candidates, preview.counts["solutions"]) == (0, 0)
    assert all(plan.refusal.code == "empty_export" for plan in preview.plans)
    with pytest.raises(DomainError, match="The filters are invalid"):
        preview_snapshot(project, {"splits": ["test"]}, formats=[])


def test_a_preview_of_a_large_project_is_estimated_from_a_sample_that_stays_the_same(project, monkeypatch):
    fill(project)
    monkeypatch.setattr(snapshot_preview, "SAMPLE", 20)
    preview = preview_snapshot(project, {"consensus": "reliability"}, formats=["trl", "csv"])
    assert (preview.exact, preview.read, preview.candidates) == (False, 20, 40)
    assert preview.counts["solutions"] == 40
    assert 40 <= preview.counts["annotations"] <= 40 + 14 * 2, "14 of the 40 have two"
    assert preview.counts["people"] == {"human": 2}, "people are counted, never scaled"
    assert preview.counts["problems"] == 20, "nor are problems, which several solutions share"
    assert all(plan.solutions >= 0 for plan in preview.plans)
    assert preview.counts == preview_snapshot(project, {"consensus": "reliability"}, formats=["trl", "csv"]).counts
    assert preview_snapshot(project, {"source_kinds": ["model_judge"]}, formats=[]).exact, (
        "the sample is of what may pass"
    )


@pytest.mark.parametrize(
    ("filters", "solutions"),
    [
        ({"source_kinds": ["human"]}, 3),
        ({"source_kinds": ["model_judge"], "finish_reasons": ["found_error"]}, 0),
        ({"finish_reasons": ["found_error"]}, 1),
        ({"lanes": ["gold"]}, 0),
        ({"generations": [1]}, 0),
        ({"guidelines": [1]}, 0),
        ({"submitted_from": "2026-01-02", "submitted_to": "2026-01-03"}, 1),
    ],
)
def test_the_database_leaves_out_only_solutions_without_a_label_that_passes(project, filters, solutions):
    days = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
    take_in(
        project,
        solution("p", rated(1, submitted_at=days[0]), by("model_judge", 1, name="judge", submitted_at=days[2])),
        solution("q", rated(-1, finish="found_error", submitted_at=days[1])),
        solution("r", rated(1, submitted_at=days[2])),
    )
    assert len(stream(project, **filters)) == solutions
    assert preview_snapshot(project, filters, formats=[]).candidates == solutions
