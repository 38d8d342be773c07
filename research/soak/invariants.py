"""The invariants of the design as checks of the database; each yields a sentence for every violation.

A check uses a project, the acknowledgements of its clients, and the results of earlier checks. It may run at any time;
some have a result only after all clients have ended (`Books.closed`).
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
    """Immutable rows of earlier checks, by id."""

    annotations: dict[int, str] = field(default_factory=dict)
    snapshots: dict[int, str] = field(default_factory=dict)
    splits: dict[int, str] = field(default_factory=dict)


@dataclass
class Books:
    """A project and the `entries` of its clients' ledgers; `closed` after every client has delivered all and ended."""

    project: Project
    entries: list[Entry]
    seen: Seen = field(default_factory=Seen)
    closed: bool = False


Check = Callable[[Books], Iterator[str]]


def acknowledged_is_stored(books: Books) -> Iterator[str]:
    """Every acknowledged submission is stored exactly once with the content that was sent; none is rejected."""
    kept = {str(row[0]): row[1:] for row in _rows(books, "submission_id", "pk", "payload_hash")}
    for entry in books.entries:
        if entry.annotation is None:
            yield f"submission {entry.submission_id} of {entry.person} was rejected: {entry.refused}"
        elif kept.get(entry.submission_id) != (entry.annotation, entry.payload_hash):
            found = kept.get(entry.submission_id, "nothing")
            yield f"submission {entry.submission_id} was acknowledged as {entry.annotation}; stored is {found}"


def stored_was_sent(books: Books) -> Iterator[str]:
    """Every stored annotation is in a client's ledger, once the outboxes are empty."""
    if books.closed:
        known = {entry.submission_id for entry in books.entries}
        for submission_id, pk in _rows(books, "submission_id", "pk"):
            if str(submission_id) not in known:
                yield f"annotation {pk} came from no client"


def nobody_twice(books: Books) -> Iterator[str]:
    """Nobody counts twice on a solution, and each later annotation of a person has its own revision number."""
    of_person = Annotation.objects.filter(project=books.project, annotator__isnull=False)
    told = of_person.values("annotator", "solution").annotate(
        counted_times=Count("pk", filter=Q(counted=True)), words=Count("pk"), numbers=Count("revision", distinct=True)
    )
    for row in told.filter(Q(counted_times__gt=1) | ~Q(words=F("numbers"))):
        yield f"member {row['annotator']} counts {row['counted_times']} times on solution {row['solution']}"


def places_add_up(books: Books) -> Iterator[str]:
    """An item's done places equal its counted annotations, its leased places its leases; both are at most `wanted`."""
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
    """A problem's split never changes, and its solutions and queue items have the same split."""
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
    """No holdout problem is in a training file or in the lanes acquisition and control."""
    chosen = QueueItem.objects.filter(project=books.project, lane__in=["acquisition", "control"])
    for item in chosen.exclude(solution__split="pool"):
        yield f"item {item.pk} of the lane {item.lane} is a {item.split} solution"
    held = set(Problem.objects.filter(project=books.project, split="holdout").values_list("text_hash", flat=True))
    for run in books.project.training_runs.all():
        file = settings.STATE_ROOT / "runs" / str(run.pk) / "train.jsonl"
        if file.exists():
            leaked = sum(trace.problem_id in held for trace in read_traces(file))
            if leaked:
                yield f"run {run.number} trains on {leaked} holdout solutions"


def labels_never_change(books: Books) -> Iterator[str]:
    """An annotation, its path and its ratings never change, and are never deleted."""
    now = dict(_digests(books.project))
    for pk, digest in books.seen.annotations.items():
        if now.get(pk) != digest:
            yield f"annotation {pk} {'changed' if pk in now else 'was deleted'}"
    books.seen.annotations.update(now)


def snapshots_never_change(books: Books) -> Iterator[str]:
    """A snapshot's file has the hash of its row, and the row never changes."""
    for snapshot in Snapshot.objects.filter(project=books.project):
        for sha256 in filter(None, (snapshot.sha256, snapshot.graded_sha256)):
            file = settings.STATE_ROOT / "snapshots" / f"{sha256}.jsonl"
            if not file.exists():
                yield f"the file {sha256[:12]} of snapshot {snapshot.pk} is missing"
            elif hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
                yield f"the file {sha256[:12]} of snapshot {snapshot.pk} has changed"
        told = f"{snapshot.sha256} {snapshot.graded_sha256} {snapshot.filters} {snapshot.counts}"
        if books.seen.snapshots.setdefault(snapshot.pk, told) != told:
            yield f"snapshot {snapshot.pk} changed"


def changes_are_audited(books: Books) -> Iterator[str]:
    """Each state that a row has reached has an audit row."""
    entries = AuditEntry.objects.filter(project=books.project)
    told = Counter(entries.values_list("action", "target_id"))
    for action, reached in _reached(books.project).items():
        for pk in reached:
            if not told[action, str(pk)]:
                yield f"no audit row of {action} {pk}"
    doubled = [pk for (action, pk), times in told.items() if action == "annotation.submit" and times > 1]
    for pk in doubled:
        yield f"annotation {pk} has two audit rows of its submission"


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
    """No live run without a heartbeat, no expired active lease, no running stage of an ended run."""
    late = timezone.now() - STUCK
    live = books.project.training_runs.filter(state__in=TrainingRun.LIVE)
    for run in live.filter(Q(heartbeat_at__lt=late) | Q(heartbeat_at=None, created_at__lt=late)):
        yield f"run {run.number} has had no heartbeat since {run.heartbeat_at}"
    overdue = Lease.objects.filter(item__project=books.project, state=Lease.State.ACTIVE, expires_at__lt=late)
    for lease in overdue:
        yield f"lease {lease.pk} expired at {lease.expires_at:%H:%M:%S} and is still active"
    over = RunStage.objects.filter(run__project=books.project, state=RunStage.State.RUNNING)
    for stage in over.exclude(run__state__in=TrainingRun.LIVE):
        yield f"the stage {stage.name} of run {stage.run_id} still runs, but the run has ended"


CHECKS: dict[str, Check] = {
    "acknowledged submissions are stored once": acknowledged_is_stored,
    "every stored annotation was sent": stored_was_sent,
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
    """The violations of each invariant, all at one point in time; empty lists if there are none."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return {name: list(violations(books)) for name, violations in CHECKS.items()}


def _rows(books: Books, *fields: str) -> Iterable[tuple]:
    rows = Annotation.objects.filter(project=books.project, annotator__isnull=False)
    return rows.values_list(*fields)


def _digests(project: Project) -> list[tuple[int, str]]:
    """(id, digest) of every annotation with its path and ratings."""
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
    """By audit action, the ids of the rows whose state shows that it happened."""
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
