"""The invariants of the design as questions to the database; each answers with what breaks it, in words.

A check looks at one project, at what its clients had acknowledged, and at what an earlier look saw. It may be asked
at any time; some can be answered only when nobody works any more (`Books.closed`).
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, F, Q
from django.utils import timezone

from annotation.models import (
    Annotation,
    AuditEntry,
    Lease,
    ModelVersion,
    Problem,
    Project,
    QueueItem,
    RunStage,
    Snapshot,
    Solution,
    TrainingRun,
)
from prm.formats.trace_files import read_traces
from research.soak.books import Entry

STUCK = timedelta(minutes=5)


@dataclass
class Seen:
    """What earlier looks saw of rows that never change, by id."""

    annotations: dict[int, str] = field(default_factory=dict)
    snapshots: dict[int, str] = field(default_factory=dict)
    splits: dict[int, str] = field(default_factory=dict)


@dataclass
class Books:
    """`entries` are what the clients' ledgers say; `closed` that every client has delivered all and gone."""

    project: Project
    entries: list[Entry]
    seen: Seen = field(default_factory=Seen)
    closed: bool = False


Check = Callable[[Books], Iterator[str]]


def acknowledged_is_kept(books: Books) -> Iterator[str]:
    """Every acknowledged submission is there exactly once, with the content that was sent; none was refused."""
    kept = {str(row[0]): row[1:] for row in _rows(books, "submission_id", "pk", "payload_hash")}
    for entry in books.entries:
        if entry.annotation is None:
            yield f"submission {entry.submission_id} of {entry.person} was refused: {entry.refused}"
        elif kept.get(entry.submission_id) != (entry.annotation, entry.payload_hash):
            found = kept.get(entry.submission_id, "nothing")
            yield f"submission {entry.submission_id} was acknowledged as {entry.annotation}; there is {found}"


def kept_was_sent(books: Books) -> Iterator[str]:
    """Nothing is there that no client has in its ledger, once the outboxes are empty."""
    if books.closed:
        known = {entry.submission_id for entry in books.entries}
        for submission_id, pk in _rows(books, "submission_id", "pk"):
            if str(submission_id) not in known:
                yield f"annotation {pk} came from no client"


def nobody_twice(books: Books) -> Iterator[str]:
    """Nobody fills two places with one solution, and each later word of theirs is a revision of its own number."""
    of_person = Annotation.objects.filter(project=books.project, annotator__isnull=False)
    told = of_person.values("annotator", "solution").annotate(
        counted_times=Count("pk", filter=Q(counted=True)), words=Count("pk"), numbers=Count("revision", distinct=True)
    )
    for row in told.filter(Q(counted_times__gt=1) | ~Q(words=F("numbers"))):
        yield f"member {row['annotator']} counts {row['counted_times']} times on solution {row['solution']}"


def places_add_up(books: Books) -> Iterator[str]:
    """An item has as many done places as counted annotations, as many leased as leases, and no more than wanted."""
    items = QueueItem.objects.filter(project=books.project).annotate(
        filled=Count("annotations", filter=Q(annotations__counted=True), distinct=True),
        held=Count("leases", filter=Q(leases__state=Lease.State.ACTIVE), distinct=True),
    )
    for item in items.exclude(done=F("filled"), leased=F("held"), wanted__gte=F("done") + F("leased")):
        yield (
            f"item {item.pk} wants {item.wanted}: {item.done} done of {item.filled} annotations, "  # type: ignore[attr-defined]
            f"{item.leased} leased of {item.held} leases"  # type: ignore[attr-defined]
        )


def splits_hold(books: Books) -> Iterator[str]:
    """A problem's split never changes, and its solutions and queue items have the same one."""
    now = dict(Problem.objects.filter(project=books.project).values_list("pk", "split"))
    for pk, split in books.seen.splits.items():
        if now.get(pk) != split:
            yield f"problem {pk} was {split} and is {now.get(pk)}"
    books.seen.splits.update(now)
    for row in Solution.objects.filter(project=books.project).exclude(split=F("problem__split")):
        yield f"solution {row.pk} is {row.split}, its problem is not"
    for item in QueueItem.objects.filter(project=books.project).exclude(split=F("solution__split")):
        yield f"item {item.pk} is {item.split}, its solution is not"


def holdout_is_held_out(books: Books) -> Iterator[str]:
    """Holdout problems are in no training file and were never chosen by acquisition or as control."""
    chosen = QueueItem.objects.filter(project=books.project, lane__in=["acquisition", "control"])
    for item in chosen.exclude(solution__split="pool"):
        yield f"item {item.pk} of the lane {item.lane} is a {item.split} solution"
    held = set(Problem.objects.filter(project=books.project, split="holdout").values_list("pk", flat=True))
    for run in books.project.training_runs.all():
        file = settings.RUN_ROOT / str(run.pk) / "train.jsonl"
        if file.exists():
            leaked = sum(int(trace.problem_id) in held for trace in read_traces(file))
            if leaked:
                yield f"run {run.number} trains on {leaked} holdout solutions"


def labels_never_change(books: Books) -> Iterator[str]:
    """An annotation with its path and ratings is what it was when it was first seen, and never goes."""
    now = dict(_digests(books.project))
    for pk, digest in books.seen.annotations.items():
        if now.get(pk) != digest:
            yield f"annotation {pk} {'changed' if pk in now else 'is gone'}"
    books.seen.annotations.update(now)


def snapshots_never_change(books: Books) -> Iterator[str]:
    """A snapshot's file has the hash that its row says, and the row is what it was."""
    for snapshot in Snapshot.objects.filter(project=books.project):
        file = settings.SNAPSHOT_ROOT / snapshot.path
        if not file.exists():
            yield f"the file of snapshot {snapshot.pk} is gone"
        elif hashlib.sha256(file.read_bytes()).hexdigest() != snapshot.sha256:
            yield f"the file of snapshot {snapshot.pk} is not what was frozen"
        told = f"{snapshot.sha256} {snapshot.filters} {snapshot.counts}"
        if books.seen.snapshots.setdefault(snapshot.pk, told) != told:
            yield f"snapshot {snapshot.pk} changed"


def changes_are_audited(books: Books) -> Iterator[str]:
    """Whatever has a state has an audit row for each state that it reached."""
    entries = AuditEntry.objects.filter(project=books.project)
    told = Counter(entries.values_list("action", "target_id"))
    for action, reached in _reached(books.project).items():
        for pk in reached:
            if not told[action, str(pk)]:
                yield f"no audit row tells of {action} {pk}"
    doubled = [pk for (action, pk), times in told.items() if action == "annotation.submit" and times > 1]
    for pk in doubled:
        yield f"annotation {pk} was submitted twice by its audit rows"


def one_of_each(books: Books) -> Iterator[str]:
    """At most one champion, one open generation and one live run."""
    project = books.project
    counts = {
        "champions": project.model_versions.filter(state=ModelVersion.State.CHAMPION).count(),
        "open generations": project.generations.filter(state="open").count(),
        "live runs": project.training_runs.filter(state__in=TrainingRun.LIVE).count(),
    }
    for what, count in counts.items():
        if count > 1:
            yield f"there are {count} {what}"


def nothing_is_stuck(books: Books) -> Iterator[str]:
    """No run without a sign of life, no lease past its time, no stage at work in a run that is over."""
    late = timezone.now() - STUCK
    live = books.project.training_runs.filter(state__in=TrainingRun.LIVE)
    for run in live.filter(Q(heartbeat_at__lt=late) | Q(heartbeat_at=None, created_at__lt=late)):
        yield f"run {run.number} has given no sign of life since {run.heartbeat_at}"
    overdue = Lease.objects.filter(item__project=books.project, state=Lease.State.ACTIVE, expires_at__lt=late)
    for lease in overdue:
        yield f"lease {lease.pk} was over at {lease.expires_at:%H:%M:%S} and is still active"
    over = RunStage.objects.filter(run__project=books.project, state=RunStage.State.RUNNING)
    for stage in over.exclude(run__state__in=TrainingRun.LIVE):
        yield f"the stage {stage.name} of run {stage.run_id} still runs though the run is over"


CHECKS: dict[str, Check] = {
    "acknowledged submissions are there once": acknowledged_is_kept,
    "nothing is there that was not sent": kept_was_sent,
    "nobody counts twice on a solution": nobody_twice,
    "no item over wanted, places add up": places_add_up,
    "splits never change": splits_hold,
    "holdout never trained on or chosen": holdout_is_held_out,
    "annotations never change": labels_never_change,
    "snapshots never change": snapshots_never_change,
    "every state change is audited": changes_are_audited,
    "one champion, generation and live run": one_of_each,
    "nothing is stuck": nothing_is_stuck,
}


def check(books: Books) -> dict[str, list[str]]:
    """What breaks each invariant; empty lists where all is well. All of it is of one moment."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return {name: list(holds(books)) for name, holds in CHECKS.items()}


def _rows(books: Books, *fields: str) -> Iterable[tuple]:
    rows = Annotation.objects.filter(project=books.project, annotator__isnull=False)
    return rows.values_list(*fields)


def _digests(project: Project) -> list[tuple[int, str]]:
    """(id, digest) of every annotation with all that hangs on it."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT a.id, md5(a::text
                || COALESCE((SELECT string_agg(p::text, '|' ORDER BY p.id) FROM annotation_pathstep p
                             WHERE p.annotation_id = a.id), '')
                || COALESCE((SELECT string_agg(r::text, '|' ORDER BY r.id) FROM annotation_steprating r
                             WHERE r.annotation_id = a.id), ''))
            FROM annotation_annotation a WHERE a.project_id = %s
            """,
            [project.pk],
        )
        return cursor.fetchall()


def _reached(project: Project) -> dict[str, Iterable[int]]:
    """By audit action, the ids of the rows whose state says that it happened."""
    runs, versions = project.training_runs, project.model_versions
    leases = Lease.objects.filter(item__project=project)
    own = Annotation.objects.filter(project=project, annotator__isnull=False)
    states = TrainingRun.State
    rows = {
        "annotation.submit": own,
        "lease.claim": leases,
        "lease.release": leases.filter(state=Lease.State.RELEASED),
        "lease.expire": leases.filter(state=Lease.State.EXPIRED),
        "run.request": runs.all(),
        "run.done": runs.filter(state=states.DONE),
        "run.failed": runs.filter(state=states.FAILED),
        "run.cancelled": runs.filter(state=states.CANCELLED),
        "model.register": versions.all(),
        "model.judge": versions.filter(gate__isnull=False),
        "model.promote": versions.filter(promoted_at__isnull=False),
        "generation.open": project.generations.all(),
        "snapshot.create": Snapshot.objects.filter(project=project),
    }
    return {action: found.values_list("pk", flat=True) for action, found in rows.items()}
