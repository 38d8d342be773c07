"""Two snapshots compared: what was added, changed and lost, each with its reason."""

import hashlib
import tracemalloc
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.db import connection

from annotation.core.errors import Conflict, DomainError
from annotation.files.record_import import import_records
from annotation.labels.annotators.batches import resume, set_aside_by_hand
from annotation.labels.datasets.comparing import diff_snapshots
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Annotation, GoldAnswer, PathStep, Problem, Solution, StepRating
from tests.factories import AnnotationFactory, MembershipFactory, SnapshotFactory
from tests.stored import snapshot_file
from tests.unit.annotation.labels.datasets.test_snapshots import rated, solution

LONG_AGO = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def root(settings, tmp_path):
    settings.STATE_ROOT = tmp_path


@pytest.fixture
def labelled(project):
    import_records(
        project=project,
        records=[
            solution("p", rated(1, 1, submitted_at=LONG_AGO)),
            solution("q", rated(1, -1, finish="found_error", submitted_at=LONG_AGO)),
        ],
        by=None,
    )
    return project


def freeze(project, **filters):
    return create_snapshot(by=None, project=project, filters=filters)


def compared(old, new):
    changes = []
    return diff_snapshots(old, new, on_change=changes.append), changes


def labels(old, new):
    diff, changes = compared(old, new)
    counted = {kind: reasons for kind, reasons in diff.labels.items() if reasons}
    assert sum(sum(reasons.values()) for reasons in counted.values()) == sum(one.of == "label" for one in changes)
    return counted


def test_a_snapshot_does_not_differ_from_itself(labelled):
    snapshot = freeze(labelled)
    diff, changes = compared(snapshot, snapshot)
    assert (changes, diff.same_labels, diff.filters) == ([], 2, [])
    assert diff.solutions == {"both": 2, "added": 0, "lost": 0, "changed": 0}


def test_a_new_label_and_a_later_import_are_added(labelled):
    old = freeze(labelled)
    AnnotationFactory(solution=Solution.objects.first(), annotator=MembershipFactory(project=labelled))
    assert labels(old, freeze(labelled)) == {"added": {"new_label": 1}}
    import_records(project=labelled, records=[solution("r", rated(1, submitted_at=LONG_AGO))], by=None)
    diff, changes = compared(old, freeze(labelled))
    assert diff.labels["added"] == {"imported_later": 1, "new_label": 1}
    assert diff.solutions == {"both": 2, "added": 1, "lost": 0, "changed": 0}
    assert [one.problem for one in changes if one.reason == "imported_later"] == ["r"]


def test_a_revision_changes_a_label_and_the_consensus_of_its_steps(labelled):
    person = MembershipFactory(project=labelled)
    first = AnnotationFactory(solution=Solution.objects.first(), annotator=person, submitted_at=LONG_AGO)
    old = freeze(labelled)
    AnnotationFactory(
        solution=first.solution,
        annotator=person,
        source=first.source,
        revision=2,
        finish_reason="give_up",
        reason="lost",
        first_error=None,
    )
    diff, changes = compared(old, freeze(labelled))
    assert diff.labels["changed"] == {"revision": 1}
    [change] = [one for one in changes if one.of == "label"]
    assert change.annotator == str(person.pseudonym)
    assert {"finish_reason", "first_error", "submitted_at"} <= set(change.fields)


def test_a_batch_set_aside_is_lost_and_comes_back(labelled, manager):
    old = freeze(labelled)
    batch = set_aside_by_hand(
        by=manager,
        project=labelled,
        annotator=labelled.annotations.earliest("pk").annotator,
        since=LONG_AGO - timedelta(days=1),
        until=LONG_AGO + timedelta(days=1),
        reason="careless",
    )
    freeze_all = {"min_annotations": 0}
    aside = freeze(labelled, **freeze_all)
    assert labels(old, aside) == {"lost": {"batch_set_aside": 2}}
    resume(by=manager, batch=batch)
    assert labels(aside, freeze(labelled, **freeze_all)) == {"added": {"batch_in_use": 2}}


def test_filters_are_named_as_the_reason(labelled):
    old, judged = freeze(labelled), rated(1, 1, name="j")
    judged.source_kind, judged.submitted_at = "model_judge", LONG_AGO
    import_records(project=labelled, records=[solution("p", judged)], by=None)
    machines = freeze(labelled, source_kinds=["model_judge"])
    diff, _ = compared(old, machines)
    assert (diff.filters, diff.labels) == (
        ["source_kinds"],
        {"added": {"filter": 1}, "changed": {}, "lost": {"filter": 2}},
    )
    assert labels(old, freeze(labelled, text="p")) == {"added": {"filter": 1}, "lost": {"filter": 1}}


def test_gold_is_the_reason_that_a_solution_is_gone(labelled):
    old, label = freeze(labelled), Annotation.objects.first()
    GoldAnswer.objects.create(project=labelled, solution=label.solution, annotation=label)
    assert labels(old, freeze(labelled)) == {"lost": {"gold": 1}}


def test_an_erased_person_and_a_removed_solution_are_told_apart(labelled):
    person = MembershipFactory(project=labelled)
    label = AnnotationFactory(solution=Solution.objects.first(), annotator=person, submitted_at=LONG_AGO)
    old = freeze(labelled)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL stepmark.erasing = 'on'")
    label.delete()
    person.delete()
    assert labels(old, freeze(labelled)) == {"lost": {"person_erased": 1}}
    of_q = Annotation.objects.filter(solution__problem__text="q")
    StepRating.objects.filter(annotation__in=of_q).delete()
    PathStep.objects.filter(annotation__in=of_q).delete()
    of_q.delete()
    Problem.objects.get(text="q").delete()
    assert labels(old, freeze(labelled)) == {"lost": {"person_erased": 1, "solution_removed": 1}}


def test_changed_data_of_a_solution_is_listed(labelled):
    old = freeze(labelled)
    Solution.objects.filter(problem__text="p").update(final_answer_correct=True, outcome_source="grader")
    diff, [change] = compared(old, freeze(labelled))
    assert diff.solutions["changed"] == 1
    assert (change.of, change.problem, change.fields) == ("solution", "p", ["final_answer_correct", "outcome_source"])


def test_another_consensus_is_told_apart_from_other_labels(labelled):
    records = [solution(f"s{n}", rated(1, 1, name="a"), rated(1, -1, name="b", finish="found_error")) for n in range(9)]
    import_records(project=labelled, records=records, by=None)
    old = freeze(labelled)
    diff, _ = compared(old, freeze(labelled, consensus="reliability"))
    assert list(diff.consensus) == ["method"]
    assert diff.labels == {"added": {}, "changed": {}, "lost": {}}
    AnnotationFactory(solution=Solution.objects.first(), annotator=MembershipFactory(project=labelled))
    assert set(compared(old, freeze(labelled))[0].consensus) <= {"labels"}


def test_the_order_and_the_ids_of_a_file_do_not_matter(labelled):
    old = freeze(labelled)
    content = snapshot_file(old).read_bytes().splitlines(keepends=True)
    other = b"".join(reversed(content)).replace(b'"solution_id":', b'"solution_id":9')
    new = _stored(labelled, other)
    diff, changes = compared(old, new)
    assert (changes, diff.same_labels) == ([], 2)


def test_equal_solutions_are_each_compared_once(labelled):
    old = freeze(labelled)
    content = snapshot_file(old).read_bytes()
    diff, _ = compared(old, _stored(labelled, content + content))
    assert diff.solutions == {"both": 2, "added": 2, "lost": 0, "changed": 0}
    assert diff.labels["added"] == {"imported_later": 2}


def _stored(project, content):
    sha256 = hashlib.sha256(content).hexdigest()
    (settings.STATE_ROOT / "snapshots" / f"{sha256}.jsonl").write_bytes(content)
    return SnapshotFactory(project=project, sha256=sha256, path=f"{sha256}.jsonl")


@pytest.mark.slow
def test_memory_does_not_grow_with_the_files(labelled):
    content = snapshot_file(freeze(labelled)).read_bytes().splitlines(keepends=True)[0]
    many = b"".join(content.replace(b'"problem":"p"', b'"problem":"p%d"' % n) for n in range(4000))
    few, all_of_them = _stored(labelled, many[: len(many) // 2].rpartition(b"\n")[0] + b"\n"), _stored(labelled, many)
    diff_snapshots(few, few)
    tracemalloc.start()
    diff = diff_snapshots(few, all_of_them)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert diff.solutions["both"] + diff.solutions["added"] == 4000
    assert peak < len(many) / 2


def test_only_snapshots_of_one_project_and_unchanged_files_are_compared(labelled):
    old = freeze(labelled)
    with pytest.raises(DomainError, match="different projects"):
        diff_snapshots(old, SnapshotFactory())
    snapshot_file(old).chmod(0o600)
    snapshot_file(old).write_bytes(b"changed")
    with pytest.raises(Conflict):
        diff_snapshots(old, old)
