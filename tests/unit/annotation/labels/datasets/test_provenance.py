"""Each label in a dataset states how its solution was chosen, and under which guidelines it was made."""

import csv
import io
import json

import pytest

from annotation.core.membership.projects import change_project
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.record_stream import stream_records
from annotation.labels.datasets.snapshot_export import export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
from annotation.loop.selection.generations import open_first_generation
from annotation.work.labelling.adjudication import adjudicate
from annotation.work.queue.managing import queue_solution
from prm.formats import table
from prm.formats.prm800k import prm800k
from tests.factories import MembershipFactory, ProjectFactory, SolutionFactory
from tests.unit.annotation.work.labelling.test_submission import all_good, claim, submit

pytestmark = pytest.mark.django_db
CONTROL_ONLY = {"mix": {"holdout": 0, "calibration": 0, "overlap": 0}, "generation_budget": 4}


@pytest.fixture
def project():
    project = ProjectFactory(guidelines="Be fair.", policy=CONTROL_ONLY)
    SolutionFactory.create_batch(10, project=project)
    return project


@pytest.fixture
def manager(project):
    return MembershipFactory(project=project, role="manager").user


@pytest.fixture
def labelled(project, manager):
    """The project with four drawn solutions of ten labelled, half of them under version 2, and one pinned solution."""
    open_first_generation(by=manager, project=project, seed=0)
    annotator = MembershipFactory(project=project)
    drawn = set(project.queue_items.values_list("solution", flat=True))
    for number in range(4):
        if number == 2:
            change_project(by=manager, project=project, guidelines="Be strict.")
        lease = claim(annotator)
        submit(annotator, all_good(lease.solution, lease))
    queue_solution(by=manager, project=project, solution=project.solutions.exclude(pk__in=drawn).first())
    lease = claim(annotator)
    submit(annotator, all_good(lease.solution, lease))
    return project


def labels_of(project, **filters):
    return [
        label
        for record in stream_records(project=project, filters=parse_filters(filters))
        for label in record.annotations
    ]


def test_a_label_states_the_draw_of_its_solution_and_the_weight_that_undoes_it(labelled):
    labels = labels_of(labelled)
    assert sorted((label.lane, label.generation, label.guidelines) for label in labels) == [
        ("control", 0, 1), ("control", 0, 1), ("control", 0, 2), ("control", 0, 2), ("pinned", 0, 2),
    ]  # fmt: skip
    drawn = [label.inclusion for label in labels if label.lane == "control"]
    assert [inclusion.probability for inclusion in drawn] == [pytest.approx(0.4)] * 4
    assert [label.inclusion for label in labels if label.lane == "pinned"] == [None]
    weights = [inclusion.weight for inclusion in drawn]
    assert sum(weights) == pytest.approx(10), "the solutions that the lane was drawn from"


def test_a_decision_was_not_drawn(labelled, manager):
    solution = labelled.queue_items.filter(lane="control").first().solution
    newest = labelled.annotations.order_by("-pk").first().pk
    adjudicate(by=manager, project=labelled, submission=all_good(solution), seen=newest)
    [decision] = [label for label in labels_of(labelled) if label.adjudicates]
    assert (decision.lane, decision.inclusion, decision.guidelines) == ("", None, 2)


def test_a_snapshot_can_have_the_labels_of_some_versions_of_the_guidelines(labelled):
    assert [label.guidelines for label in labels_of(labelled, guidelines=[1])] == [1, 1]
    assert len(labels_of(labelled, guidelines=[1, 2])) == 5


def test_files_that_can_hold_it_state_it_and_it_comes_back(labelled, manager):
    snapshot = create_snapshot(by=manager, project=labelled, filters={})

    def design(records):
        return sorted(
            (label.lane, label.guidelines, label.inclusion and round(label.inclusion.weight, 9))
            for record in records
            for label in record.annotations
        )

    expected = [("control", 1, 2.5), ("control", 1, 2.5), ("control", 2, 2.5), ("control", 2, 2.5), ("pinned", 2, None)]
    assert design(read_snapshot(snapshot)) == expected
    lines = [json.loads(line) for line in b"".join(export_snapshot(snapshot, "records")).splitlines()]
    stated = [label["inclusion"] for line in lines for label in line["annotations"] if label["lane"] == "control"]
    assert stated == [{"probability": pytest.approx(0.4), "weight": pytest.approx(2.5)}] * 4
    native = b"".join(export_snapshot(snapshot, "prm800k"))
    assert design(record for _, record in prm800k.read(io.BytesIO(native))) == expected
    for format in ("csv", "parquet"):
        content = b"".join(export_snapshot(snapshot, format))
        assert design(record for _, record in table.read(io.BytesIO(content))) == expected
    rows = list(csv.DictReader(io.StringIO(b"".join(export_snapshot(snapshot, "csv")).decode())))
    columns = ("generation", "inclusion_probability", "inclusion_weight", "guidelines")
    [pinned] = [[row[column] for column in columns] for row in rows if row["lane"] == "pinned"]
    assert pinned == ["0", "", "", "2"]
