"""The soak's checks can fail: each kind of harm, done to a project that is well, is told by its own check alone."""

import hashlib
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.core import audit
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Annotation, Lease, RunStage, TrainingRun
from prm.traces import Step, Trace, write_traces
from research.soak.books import Entry, Ledger, Outbox, read_ledgers
from research.soak.invariants import CHECKS, Books, check
from tests.factories import AnnotationFactory, GenerationFactory, MembershipFactory, QueueItemFactory, SolutionFactory
from tests.rounds_world import folders


@pytest.fixture
def books(db, settings, tmp_path):
    """A project with one label through the queue, acknowledged, audited and frozen; seen once."""
    folders(settings, tmp_path)
    item = QueueItemFactory(state="done", done=1)
    project, member = item.project, MembershipFactory(project=item.project)
    audit.record(by=None, action="generation.open", target=item.generation, project=project)
    now = timezone.now()
    lease = Lease.objects.create(
        item=item,
        solution=item.solution,
        annotator=member,
        state="submitted",
        claimed_at=now,
        expires_at=now + timedelta(minutes=1),
    )
    audit.record(by=member.user, action="lease.claim", target=lease, project=project)
    label = kept(item, member, lease=lease, counted=True)
    create_snapshot(by=None, project=project, filters={})
    books = Books(project, [entry_of(label)], closed=True)
    assert broken(books) == {}
    return books


def kept(item, member, **named):
    label = AnnotationFactory(solution=item.solution, annotator=member, item=item, lane=item.lane, **named)
    audit.record(by=member.user, action="annotation.submit", target=label, project=item.project)
    return label


def entry_of(label):
    return Entry(str(label.submission_id), label.solution_id, label.payload_hash, "somebody", label.pk)


def broken(books):
    return {name: found for name, holds in CHECKS.items() if (found := list(holds(books)))}


def label_of(books):
    return books.project.annotations.get()


def test_a_lost_submission(books):
    books.entries.append(Entry(str(uuid.uuid4()), 1, "0" * 64, "somebody", 12345))
    assert list(broken(books)) == ["acknowledged submissions are stored once"]


def test_another_content_than_was_sent(books):
    books.entries[0].payload_hash = "1" * 64
    assert list(broken(books)) == ["acknowledged submissions are stored once"]


def test_a_refused_submission(books):
    books.entries.append(Entry(str(uuid.uuid4()), 1, "0" * 64, "somebody", None, "not_claimed"))
    assert "rejected: not_claimed" in broken(books)["acknowledged submissions are stored once"][0]


def test_a_label_that_nobody_sent(books):
    label = label_of(books)
    books.entries.clear()
    assert list(broken(books)) == ["every stored annotation was sent"]
    books.closed = False
    assert broken(books) == {}, "it may be on its way to the ledger"
    assert label == label_of(books)


def test_a_person_who_counts_twice_and_an_item_that_says_otherwise(books):
    label = label_of(books)
    books.entries.append(entry_of(kept(label.item, label.annotator, counted=True, revision=2)))
    assert list(broken(books)) == ["nobody counts twice on a solution", "no item over wanted, places add up"]


def test_a_place_without_its_lease(books):
    item = QueueItemFactory(generation=label_of(books).item.generation, leased=1, state="full")
    assert f"item {item.pk} wants 1" in broken(books)["no item over wanted, places add up"][0]


def test_a_problem_that_changes_its_split(books):
    books.seen.splits[label_of(books).solution.problem_id] = "holdout"
    assert list(broken(books)) == ["splits never change"]


def test_a_holdout_problem_in_a_training_file(books, settings):
    held = SolutionFactory(project=books.project, problem__split="holdout")
    run = TrainingRun.objects.create(project=books.project, number=1, trigger="manual", seed=1, state="failed")
    for action in ("run.request", "run.failed"):
        audit.record(by=None, action=action, target=run, project=books.project)
    (settings.STATE_ROOT / "runs" / str(run.pk)).mkdir(parents=True)
    leaked = Trace("1", "2 + 2?", [Step("4")], problem_id=held.problem.text_hash)
    write_traces(settings.STATE_ROOT / "runs" / str(run.pk) / "train.jsonl", [leaked])
    assert broken(books) == {"holdout never trained on or chosen": ["run 1 trains on 1 holdout solutions"]}


def test_a_label_that_changed_and_one_that_went(books):
    label = label_of(books)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL stepmark.erasing = 'on'")
        cursor.execute("UPDATE annotation_annotation SET comment = 'other' WHERE id = %s", [label.pk])
    assert broken(books) == {"annotations never change": [f"annotation {label.pk} changed"]}
    books.seen.annotations[label.pk + 1] = "what it was"
    assert f"annotation {label.pk + 1} was deleted" in broken(books)["annotations never change"]


def test_a_snapshot_whose_file_changed_or_went(books, settings):
    [file] = (settings.STATE_ROOT / "snapshots").glob("*.jsonl")
    content = file.read_bytes()
    file.unlink()
    assert "is missing" in broken(books)["snapshots never change"][0]
    file.write_bytes(content.replace(b"4", b"5"))
    assert hashlib.sha256(content).hexdigest() == file.stem
    assert "has changed" in broken(books)["snapshots never change"][0]


def test_a_change_that_nobody_wrote_down(books):
    TrainingRun.objects.create(project=books.project, number=1, trigger="manual", seed=1, state="done")
    told = broken(books)["every state change is audited"]
    assert [line.rsplit(" ", 1)[0] for line in told] == [
        "no audit row of run.request",
        "no audit row of run.done",
    ]


def test_a_second_open_generation(books):
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX generation_one_open_per_project")
    generation = GenerationFactory(project=books.project, number=7)
    audit.record(by=None, action="generation.open", target=generation, project=books.project)
    assert broken(books) == {"one champion, generation and live run": ["there are 2 open generations"]}


def test_a_run_that_hangs_a_stage_left_behind_and_a_lease_that_stays(books):
    long_ago = timezone.now() - timedelta(hours=1)
    for number, state in ((1, "failed"), (2, "running")):
        run = TrainingRun.objects.create(
            project=books.project, number=number, trigger="manual", seed=1, state=state, heartbeat_at=long_ago
        )
        RunStage.objects.create(run=run, name="train", order=1, state="running")
    Lease.objects.update(state="active", expires_at=long_ago)
    told = broken(books)["nothing is stuck"]
    assert [line.split(" ")[0] for line in told] == ["run", "lease", "the"]


@pytest.mark.django_db(transaction=True)
def test_all_checks_look_at_one_moment():
    generation = GenerationFactory()
    audit.record(by=None, action="generation.open", target=generation, project=generation.project)
    assert check(Books(generation.project, [])) == {name: [] for name in CHECKS}
    assert not Annotation.objects.exists()


def test_a_ledger_survives_a_line_that_a_kill_cut_short(tmp_path):
    entry = Entry(str(uuid.uuid4()), 1, "0" * 64, "a", 7)
    Ledger(tmp_path, "a").write(entry)
    with (tmp_path / "ledger" / "a.jsonl").open("ab") as out:
        out.write(b'{"submission_id": "cut sh')
    Ledger(tmp_path, "a").write(entry)
    assert read_ledgers(tmp_path) == [entry]
    assert Outbox(tmp_path, "a").waiting() == []
