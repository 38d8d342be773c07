"""Each label in a dataset states how its solution was chosen, and under which guidelines it was made."""

import csv
import io
import json
from zipfile import ZipFile

import pytest
from huggingface_hub import DatasetCard

from annotation.core.errors import DomainError
from annotation.core.membership.projects import change_project, create_project
from annotation.files.record_import import import_records
from annotation.labels.annotators.batches import set_aside_by_hand
from annotation.labels.consensus.dispute_decision import resolve
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.plans import plan_export
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


def test_a_card_is_one_that_the_hugging_face_hub_reads(labelled, manager):
    stated = {
        "licence": "cc-by-4.0",
        "languages": ["en", "de"],
        "annotator_training": "Two hours.",
        "annotator_pay": "15 EUR an hour.",
    }
    change_project(by=manager, project=labelled, policy=CONTROL_ONLY | {"card": stated}, name='A "b": c\x7f')
    labelled.refresh_from_db()
    text = dataset_card(create_snapshot(by=manager, project=labelled, filters={}))
    data = DatasetCard(text).data
    assert (data.license, data.language) == ("cc-by-4.0", ["en", "de"])
    assert (data.pretty_name, data.size_categories) == ('A "b": c: labelled reasoning steps', ["n<1K"])
    assert data.task_categories == ["text-classification"]
    assert "process-reward-model" in data.tags
    for sentence in ("Licence: cc-by-4.0.", "Training of the annotators: Two hours.", "Pay of the annotators: 15 EUR"):
        assert sentence in text


def test_a_card_says_what_is_not_stated(labelled, manager):
    text = dataset_card(create_snapshot(by=manager, project=labelled, filters={}))
    data = DatasetCard(text).data
    assert (data.license, data.language) == (None, None)
    for sentence in ("Licence: not stated.", "Training of the annotators: not stated.", "Pay of the annotators: not"):
        assert sentence in text


def test_a_card_states_guidelines_draws_and_weights(labelled, manager):
    text = dataset_card(create_snapshot(by=manager, project=labelled, filters={}))
    assert "| 1 | 2 |\n| 2 | 3 |" in text
    assert "### Version 1, from" in text
    assert "> Be fair." in text
    assert "> Be strict." in text
    assert "| 0, control | 4 of 10, at random within domain, length and generator | 4 | 0.4 | 10.0 |" in text
    assert "Method: `shares` (all annotators equal)." in text
    assert "Only the visible steps were supervised." in text
    only = dataset_card(create_snapshot(by=manager, project=labelled, filters={"guidelines": [1]}))
    assert "> Be strict." not in only


def test_a_card_states_known_failures(labelled, manager):
    annotator = MembershipFactory(project=labelled)
    SolutionFactory(project=labelled)
    queue_solution(by=manager, project=labelled, solution=labelled.solutions.last())
    lease = claim(annotator)
    given_up = all_good(lease.solution, lease, finish_reason="bad_problem", reason="no", reference_disputed=True)
    label = submit(annotator, given_up).annotation
    before = dataset_card(create_snapshot(by=manager, project=labelled, filters={}))
    assert "Problems reported as bad: 1 of 6 (16.7\xa0%)." in before
    assert "found the reference of a problem wrong: 0 in" in before
    resolve(by=manager, dispute=label.dispute, upheld=True, resolution="It is 5.")
    moment = label.submitted_at
    set_aside_by_hand(by=manager, project=labelled, annotator=annotator, since=moment, until=moment, reason="no")
    after = dataset_card(create_snapshot(by=manager, project=labelled, filters={}))
    assert "found the reference of a problem wrong: 1 in" in after
    assert "set aside as unreliable: 1 in the project. This dataset leaves them out." in after
    assert "set aside as unreliable: 0 in the project." in before


def test_a_licence_that_the_hub_would_not_read_is_refused(project, manager):
    for card in ({"licence": "CC BY 4.0"}, {"languages": ["English"]}):
        with pytest.raises(DomainError) as refused:
            change_project(by=manager, project=project, policy=CONTROL_ONLY | {"card": card})
        assert refused.value.code == "invalid_policy"


def test_a_card_says_that_labels_from_files_have_the_numbers_of_another_project(labelled, manager):
    own = create_snapshot(by=manager, project=labelled, filters={})
    assert "Labels from files state" not in dataset_card(own)
    again = create_project(by=manager, name="Again", slug="again")
    import_records(project=again, records=list(read_snapshot(own)), by=manager)
    text = dataset_card(create_snapshot(by=manager, project=again, filters={}))
    assert "state the versions of the project that they came from" in text
    assert "state the draws of the project that they came from" in text
    assert "| 0, control | not known | 4 | 0.4 | 10.0 |" in text


def test_a_format_that_cannot_state_draws_and_guidelines_says_so(labelled, manager):
    snapshot = create_snapshot(by=manager, project=labelled, filters={})
    for format in ("trl", "math_shepherd"):
        plan = plan_export(snapshot, format)
        assert (plan.not_held["draws"], plan.not_held["guidelines"]) == (4, 5)
        assert "the draws of 4 solutions" in plan.sentences()
        assert "the versions of the guidelines of 5 labels" in plan.sentences()
    for format in ("records", "prm800k", "csv", "parquet", "huggingface"):
        assert plan_export(snapshot, format).not_held.keys().isdisjoint({"draws", "guidelines"})


def test_the_card_in_a_hugging_face_folder_has_one_header(labelled, manager):
    snapshot = create_snapshot(by=manager, project=labelled, filters={})
    content = io.BytesIO(b"".join(export_snapshot(snapshot, "huggingface")))
    with ZipFile(content) as folder:
        card = DatasetCard(folder.read("README.md").decode())
    assert card.data.task_categories == ["text-classification"]
    assert [files["split"] for files in card.data.configs[0]["data_files"]] == ["train"]
    assert "> Be fair." in card.text
