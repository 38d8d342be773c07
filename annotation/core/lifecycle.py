"""The lifecycle of every kind of job: a worker claims it, reports heartbeats, and ends, cancels or resumes it.

The row is the only state. A Celery message only says that a worker may claim the job: a duplicate does nothing, and the
sweep replaces a lost one. A worker resumes a job where the last one stopped. A job fails if several workers in
succession die without progress.

A job may have parts. Each message of a staged job (`annotation.core.stages`) names the stage to run. A `SHARED` job has
one seat for each worker of its queue. Each seat has its own messages and its own lock, does a part, and enqueues itself
again. Workers of a shared job coordinate through its row and divide the work by row locks.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from typing import Annotated, Any, TypeVar

from celery import current_app
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.core import audit, storage, tickets
from annotation.core.bounds import about
from annotation.core.errors import Conflict, DomainError, Missing
from annotation.core.jobs import enqueue
from annotation.core.locks import advisory_lock
from annotation.core.membership.access import require_role
from annotation.core.server_paths import without_roots
from annotation.models import Job, JobEntry, Membership, Project, StagedJob
from prm.messages import Message

log = logging.getLogger(__name__)

STALLED_AFTER = timedelta(seconds=30)  # without a heartbeat, before the sweep looks for a worker
MAX_ATTEMPTS = 3
BEAT_SECONDS = 1.0  # the shortest time between two heartbeats: each is a write
INSPECT_SECONDS = 1.0
State = Job.State
J = TypeVar("J", bound=Job)


class Cancelled(Exception):
    """Someone asked for the job to be cancelled."""


class Postponed(Exception):
    """The job continues later: the sweep enqueues it again. This does not count as a failed attempt."""


@dataclass(frozen=True)
class Progress:
    """Share done (0 to 1); records, samples or solutions per second; seconds left. Null while unknown."""

    share: Annotated[float | None, about("The share that is done, from 0 to 1; null while unknown.")]
    per_second: Annotated[float | None, about("Records, samples or solutions per second; null while unknown.")]
    seconds_left: Annotated[float | None, about("Expected seconds left; null while unknown.")]


class Turn(Enum):
    """What happens next to a job that is not finished."""

    AGAIN = auto()  # work remains: enqueue it again
    ELSEWHERE = auto()  # other workers hold all remaining work


def send(job: Job, part: str | None = None) -> None:
    """Enqueue the job: the given part, or the next one."""
    part = job.part if part is None else part
    tickets.mark(job, part)
    enqueue(job.TASK, job.pk, *([part] if part else []), queue=job.queue)


def fail_job(job: Job, error: Exception) -> Turn | None:
    """End a job with the reason that people read."""
    end_job(job, State.FAILED, describe_error(error), failure=code_of(error))
    return None


def run_job(
    model: type[J],
    pk: int,
    perform: Callable[[J], Turn | None],
    *,
    part: str = "",
    on_failure: Callable[[J, Exception], Turn | None] = fail_job,
) -> J | None:
    """Claim a job, do it or one part of it, and enqueue the rest. None if the job is not due or another worker has it.

    `perform` may run again at any time and resumes where the job stopped. If it raises, the job fails; if the database
    is lost, the sweep enqueues the job again.
    """
    tickets.take(model, pk, part)
    job, turn = do_part(model, pk, perform, part=part, on_failure=on_failure)
    # Enqueued after the lock is released: before, the next worker would find the job taken.
    if job is not None and turn is Turn.AGAIN:
        send(job, part if job.SHARED else None)
    return job


def do_part(
    model: type[J],
    pk: int,
    perform: Callable[[J], Turn | None],
    *,
    part: str | None = None,
    on_failure: Callable[[J, Exception], Turn | None] = fail_job,
) -> tuple[J | None, Turn | None]:
    """As `run_job`, but without enqueueing the rest; without a `part`, the next one."""
    with _seat(model, pk, part) as alone:
        job = _claim(model, pk, part) if alone else None
        if job is None or not job.live:
            return job, None
        try:
            if job.attempts > MAX_ATTEMPTS:
                raise _died(MAX_ATTEMPTS)
            with storage.holding():
                turn = perform(job)
        except Cancelled:
            end_job(job, State.CANCELLED)
            return job, None
        except Postponed:
            job.state, job.attempts = State.QUEUED, 0
            job.save(update_fields=["state", "attempts"])
            return job, None
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            if not isinstance(error, DomainError):
                log.exception("%s failed", job)
            turn = on_failure(job, error)
        if turn is None and job.state == State.RUNNING:
            end_job(job, State.DONE)
        return job, turn


def progress_of(job: Job) -> Progress:
    """How far the job is, and how fast it is if it counts what it handles."""
    share, handled = job.share, job.handled
    if job.started_at is None or not handled:
        return Progress(share, None, None)
    seconds = ((job.finished_at or job.heartbeat_at or timezone.now()) - job.started_at).total_seconds()
    left = seconds / share - seconds if share and job.state in job.WORKED_ON else None
    return Progress(share, handled / seconds if seconds else None, left)


def find_job(project: Project, kind: str, pk: int) -> Job:
    """The job of a project by its kind and its id. Raises Missing (`job_not_found`)."""
    model: Any = Job.kinds().get(kind)
    if model is not None:
        job: Job | None = model.objects.select_related("project", "requested_by").filter(project=project, pk=pk).first()
        if job is not None:
            return job
    raise Missing(Message("job_not_found"))


def load_jobs(entries: Iterable[JobEntry]) -> list[Job]:
    """The jobs of these entries, in their order, read with one query per kind and as each entry's `job`."""
    entries = list(entries)
    kinds: Any = Job.kinds()
    jobs: dict[tuple[str, int], Job] = {}
    for kind in {entry.kind for entry in entries}:
        rows = kinds[kind].objects.select_related("project", "requested_by")
        if issubclass(kinds[kind], StagedJob):
            rows = rows.prefetch_related("stages")
        jobs |= {(kind, job.pk): job for job in rows.filter(pk__in=[e.job_id for e in entries if e.kind == kind])}
    for entry in entries:
        entry.job = jobs[entry.kind, entry.job_id]
    return [entry.job for entry in entries]


def raise_if_cancelled(job: Job) -> None:
    """Raise Cancelled if somebody has cancelled the job."""
    if type(job)._default_manager.filter(pk=job.pk, cancel_requested=True).exists():
        raise Cancelled


def beat(job: Job, **fields: object) -> None:
    """Write a heartbeat and these fields. Call it often: without fields it writes at most once a second.

    Raises Cancelled.
    """
    now = time.monotonic()
    if not fields and now - job.__dict__.get("_beaten", -BEAT_SECONDS) < BEAT_SECONDS:
        return
    job.__dict__["_beaten"] = now
    type(job)._default_manager.filter(pk=job.pk).update(heartbeat_at=timezone.now(), **fields)
    raise_if_cancelled(job)


@contextmanager
def beating_apart(job: Job) -> Iterator[Callable[..., None]]:
    """A `beat` on a connection of its own, for work inside one long transaction, whose writes nobody else can see."""
    apart, table = connection.copy(), job._meta.db_table
    last = -BEAT_SECONDS

    def beat_apart(**fields: int) -> None:
        nonlocal last
        if (now := time.monotonic()) - last < BEAT_SECONDS:
            return
        last = now
        values: dict[str, Any] = {"heartbeat_at": timezone.now(), **fields}
        columns = ", ".join(f"{name} = %({name})s" for name in values)
        statement = f"UPDATE {table} SET {columns} WHERE id = %(pk)s RETURNING cancel_requested"
        with apart.cursor() as cursor:
            cursor.execute(statement, {**values, "pk": job.pk})
            if cursor.fetchone() == (True,):
                raise Cancelled

    try:
        yield beat_apart
    finally:
        apart.close()


def save_progress(job: Job, *fields: str) -> None:
    """Save these fields of a job that made progress; call it inside the transaction of the work itself."""
    job.heartbeat_at, job.attempts = timezone.now(), 0
    job.save(update_fields=[*fields, "heartbeat_at", "attempts"])


@transaction.atomic
def cancel_job(*, by: User, job: J) -> J:
    """Cancel a job: at once if no worker has it, else as soon as its worker notices. Finished work stays.

    Raises Forbidden, Conflict (`job_over`).
    """
    require_role(by, job.project, Membership.Role.MANAGER)
    job = locked(job)
    if not job.live:
        raise Conflict(Message("job_over"))
    job.cancel_requested = True
    job.save(update_fields=["cancel_requested"])
    audit.record(by=by, action=f"{job.audit_name}.cancel", target=job.subject)
    with _seat(type(job), job.pk, None) as nobody:
        if nobody:  # a worker with a part of a shared job notices when that part ends
            end_job(job, State.CANCELLED)
    return job


@transaction.atomic
def resume_job(*, by: User, job: J, even_if_done: bool = False) -> J:
    """Enqueue the remaining work of a job that failed or was cancelled.

    `even_if_done`: for jobs that can end with work left. Raises Forbidden, Conflict (`job_live`, `job_over`).
    """
    require_role(by, job.project, Membership.Role.MANAGER)
    job = locked(job)
    if job.live:
        raise Conflict(Message("job_live"))
    if job.state == State.DONE and not even_if_done:
        raise Conflict(Message("job_over"))
    before = {"state": job.state} | ({"failure": job.failure} if job.failure else {})
    job.reopen()
    job.retries += 1
    job.save()
    audit.record(
        by=by,
        action=f"{job.audit_name}.resume",
        target=job.subject,
        before=before,
        after={"stage": job.part} if job.part else {},
    )
    send(job)
    return job


@transaction.atomic
def end_job(job: Job, state: str, error: str = "", *, failure: str = "") -> None:
    """Record how a job ended, unless it has ended already."""
    if not locked(job).live:
        return
    job.state, job.error, job.failure, job.finished_at = job.settle(state), error, failure, timezone.now()
    job.save(update_fields=["state", "error", "failure", "finished_at"])
    counts = {name: getattr(job, name) for name in job.COUNTS}
    audit.record(
        by=job.requested_by,
        action=f"{job.audit_name}.{job.state}",
        target=job.subject,
        after=counts | ({"error": error} if error else {}),
    )
    for following in job.following():
        send(following)
    if leftover := job.leftover:
        transaction.on_commit(lambda: storage.remove(leftover))


def sweep_jobs() -> int:
    """Re-enqueue jobs of every kind that no worker has and no message waits for; returns how many.

    The sweep looks at jobs whose heartbeat is older than STALLED_AFTER, and at every seat of a shared job.
    """
    before, resent = timezone.now() - STALLED_AFTER, 0
    for model in Job.kinds().values():
        seen = model.in_turn().alias(seen_at=Coalesce("heartbeat_at", "created_at"))
        stalled = seen.filter(seen_at__lt=before)
        for job in list(seen if model.SHARED else stalled):
            lost = [part for part in _parts(job) if not tickets.waits(job, part) and _is_free(job, part)]
            if lost:
                stalled.filter(pk=job.pk).update(state=State.QUEUED, heartbeat_at=timezone.now())
                resent += 1
            for part in lost:
                send(job, part)
    return resent


def locked(job: J) -> J:
    """The current row of the job, locked until the transaction ends."""
    rows = type(job)._default_manager.select_for_update(of=("self",))
    return rows.select_related("project").get(pk=job.pk)


def describe_error(error: Exception) -> str:
    """The message of an error, with its class if it is not a DomainError."""
    if isinstance(error, DomainError):
        return error.message
    return Message("kind_error", kind=type(error).__name__, error=without_roots(str(error)))


def code_of(error: Exception) -> str:
    return error.code if isinstance(error, DomainError) else "unexpected"


def _died(times: int) -> DomainError:
    message = Message("worker_died_repeatedly", n=times)
    return DomainError(message, {"times": times}, code="worker_died")


def _seat(model: type[Job], pk: int, part: str | None) -> AbstractContextManager[bool]:
    """The lock that the worker of a job holds, or of one part of a shared job."""
    label = model._meta.label
    return advisory_lock(f"{label} {part}" if model.SHARED and part else label, pk)


def _is_free(job: Job, part: str) -> bool:
    with _seat(type(job), job.pk, part) as free:
        return free


def _parts(job: Job) -> list[str]:
    """The parts that may be enqueued: a seat for each worker of a shared job's queue, else the next part."""
    if not job.SHARED:
        return [job.part]
    answers = current_app.control.inspect(timeout=INSPECT_SECONDS).active_queues() or {}
    workers = sum(any(queue["name"] == job.queue for queue in queues) for queues in answers.values())
    return [str(seat) for seat in range(max(workers, 1))]


@transaction.atomic
def _claim(model: type[J], pk: int, part: str | None) -> J | None:
    """The claimed job, with this attempt counted. Joining a shared job that runs already is not an attempt."""
    job = model.in_turn().select_for_update(of=("self",)).select_related("project").filter(pk=pk).first()
    if job is None or not (model.SHARED or part is None or part == job.part):
        return None
    if job.cancel_requested:
        end_job(job, State.CANCELLED)
    else:
        now = timezone.now()
        job.attempts += not (job.SHARED and job.state == State.RUNNING)
        job.state, job.heartbeat_at, job.started_at = State.RUNNING, now, job.started_at or now
        job.save(update_fields=["state", "heartbeat_at", "started_at", "attempts"])
    return job
