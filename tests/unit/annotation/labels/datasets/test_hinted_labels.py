"""A data set says which labels were made with a model's scores in sight, and can be had without them."""

import io
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.record_stream import stream_records
from annotation.labels.datasets.snapshot_export import export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Hint, Lease
from prm.formats.record import HintDraw
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    MembershipFactory,
    ModelVersionFactory,
    QueueItemFactory,
)


@pytest.fixture
def label(project):
    """A label of a new solution, given out with a hint, without one by the draw, or where none was possible."""
    generation = GenerationFactory(project=project)
    version = ModelVersionFactory(project=project, number=4)
    person = MembershipFactory(project=project)
    now = timezone.now()

    def label(shown=None, *, seen=()):
        item = QueueItemFactory(generation=generation)
        lease = Lease.objects.create(
            item=item, solution=item.solution, annotator=person, claimed_at=now, expires_at=now
        )
        if shown is not None:
            Hint.objects.create(
                lease=lease, model_version=version, scores=[0.9], share=0.5, reveal="on_request", shown=shown,
                seen=list(seen), drawn_at=now,
            )  # fmt: skip
        return AnnotationFactory(solution=item.solution, annotator=person, lease=lease, item=item, lane=item.lane)

    return label


def stream(project, **filters):
    return list(stream_records(project=project, filters=parse_filters(filters)))


def test_a_record_says_of_each_label_which_arm_it_is_of(project, manager, label):
    label(shown=True, seen=[[1, None], [0, -1]])
    label(shown=False)
    label()
    snapshot = create_snapshot(by=manager, project=project, filters={})
    drawn = [HintDraw(shown=True, model=4, seen=[1, 0]), HintDraw(shown=False, model=4), None]
    assert sorted(map(str, (record.annotations[0].hint for record in stream(project)))) == sorted(map(str, drawn))
    exported = [json.loads(line) for line in io.BytesIO(b"".join(export_snapshot(snapshot, "records")))]
    told = {json.dumps(record["annotations"][0].get("hint", "not told")) for record in exported}
    assert told == {
        '{"shown": true, "model": 4, "seen": [1, 0]}',
        '{"shown": false, "model": 4}',
        '"not told"',
    }


def test_every_later_word_of_the_same_person_is_of_the_same_arm(project, label):
    first = label(shown=True)
    AnnotationFactory(solution=first.solution, annotator=first.annotator, revision=2, adjudicates=True)
    AnnotationFactory(solution=first.solution)
    [record] = stream(project, revisions="all")
    assert [annotation.hint is not None for annotation in record.annotations] == [True, True, False]


def test_labels_of_the_hinted_arm_are_left_out_on_demand_whether_or_not_a_score_was_looked_at(project, label):
    label(shown=True, seen=[[0, None]])
    label(shown=True)
    kept = {label(shown=False).solution.problem.text, label().solution.problem.text}
    assert len(stream(project)) == 4
    assert {record.problem for record in stream(project, hints="left_out")} == kept


def test_the_card_counts_them_and_says_how_to_leave_them_out(project, manager, label):
    label(shown=True, seen=[[0, None]])
    label(shown=True)
    label(shown=False)
    label()
    snapshot = create_snapshot(by=manager, project=project, filters={})
    assert snapshot.counts["hints"] == {"shown": 2, "seen": 1, "blind": 1}
    card = dataset_card(snapshot)
    assert "a model's scores beside the steps: 2 (in 1 of these" in card
    assert "In the blind arm: 1" in card
    without = create_snapshot(by=manager, project=project, filters={"hints": "left_out"})
    assert without.counts["hints"] == {"blind": 1}
    assert "hints: left_out" in dataset_card(without)


def test_a_project_without_hints_pays_and_reads_nothing_of_them(project, manager, label):
    label()
    with CaptureQueriesContext(connection) as without:
        [_record] = stream(project)
    snapshot = create_snapshot(by=manager, project=project, filters={})
    assert b'"hint"' not in b"".join(export_snapshot(snapshot, "records"))
    assert "hint arm" not in dataset_card(snapshot)
    label(shown=True)
    with CaptureQueriesContext(connection) as with_hints:
        stream(project)
    assert len(with_hints) == len(without), "they come with the labels"
