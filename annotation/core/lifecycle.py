"""How a job lives, whatever its kind: taken up by one worker, watched, cancelled, gone on with, ended.

The row says everything. A message only says that it may be taken up, so one too many does nothing, and one that was
lost is sent again by the sweep. Whoever takes up a job goes on where it stands; one whose workers die in succession
without getting on is failed.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.jobs import enqueue
from annotation.core.membership.access import require_role
from annotation.core.server_paths import without_roots
from annotation.models import Job, Membership
from prm.messages import Message

log = logging.getLogger(__name__)

STALLED_AFTER = timedelta(minutes=1)  # no worker said anything for so long: ask whether there still is one
MAX_ATTEMPTS = 3
State = Job.State
J = TypeVar("J", bound=Job)


class Cancelled(Exception):
    """Someone asked for the job to be cancelled."""


class Postponed(Exception):
    """The job is to go on later: the sweep asks for it again, and that was no attempt that failed."""


def send(job: Job) -> None:
    """Tell a worker that the job may be taken up."""
    enqueue(job.TASK, job.pk, queue=job.QUEUE)


def run_job(model: type[J], pk: int, perform: Callable[[J], None]) -> J | None:
    """Take a job up and do it to its end; returns None where another worker is at it, or it is not its turn.

    `perform` may run again at any time, and goes on where the job stands. It ends the job as failed by raising; a lost
    database leaves it to the sweep.
    """
    with _sole_worker(model, pk) as alone:
        job = _take_up(model, pk) if alone else None
        if job is None or not job.live:
            return job
        try:
            perform(job)
        except Cancelled:
            end_job(job, State.CANCELLED)
        except Postponed:
            job.state, job.attempts = State.QUEUED, 0
            job.save(update_fields=["state", "attempts"])
        except (OperationalError, InterfaceError):
            raise
        except DomainError as error:
            end_job(job, State.FAILED, error.message)
        except Exception as error:
            log.exception("%s failed", job)
            end_job(
                job, State.FAILED, Message("kind_error", kind=type(error).__name__, error=without_roots(str(error)))
            )
        else:
            if job.state == State.RUNNING:
                end_job(job, State.DONE)
        return job


def heed(job: Job) -> None:
    """Raises Cancelled where someone asked for that."""
    if type(job)._default_manager.filter(pk=job.pk, cancel_requested=True).exists():
        raise Cancelled


def beat(job: Job, **told: object) -> None:
    """Say that its worker lives, and what else is `told` of it; call it often. Raises Cancelled."""
    type(job)._default_manager.filter(pk=job.pk).update(heartbeat_at=timezone.now(), **told)
    heed(job)


def got_on(job: Job, *fields: str) -> None:
    """Keep these fields of a job that got on; call it inside the transaction of what was done."""
    job.heartbeat_at, job.attempts = timezone.now(), 0
    job.save(update_fields=[*fields, "heartbeat_at", "attempts"])


@transaction.atomic
def cancel_job(*, by: User, job: J) -> J:
    """End a job: at once where nobody is at it, else as soon as its worker heeds it. What is done of it stays.

    Raises Forbidden, Conflict (`job_over`).
    """
    require_role(by, job.project, Membership.Role.MANAGER)
    job = locked(job)
    if not job.live:
        raise Conflict("job_over", Message("job_over"))
    job.cancel_requested = True
    job.save(update_fields=["cancel_requested"])
    audit.record(by=by, action=f"{job.called}.cancel", target=job.subject, project=job.project)
    if job.state == State.RUNNING:
        send(job)  # its worker may be gone: whoever takes it up ends it
    else:
        end_job(job, State.CANCELLED)
    return job


@transaction.atomic
def resume_job(*, by: User, job: J) -> J:
    """Let a job that is over go on with what is left of it. Raises Forbidden, Conflict (`job_live`)."""
    require_role(by, job.project, Membership.Role.MANAGER)
    job = locked(job)
    if job.live:
        raise Conflict("job_live", Message("job_live"))
    before = {"state": job.state}
    job.state, job.cancel_requested, job.attempts, job.error = State.QUEUED, False, 0, ""
    job.heartbeat_at = job.finished_at = None
    job.save()
    audit.record(by=by, action=f"{job.called}.resume", target=job.subject, project=job.project, before=before)
    send(job)
    return job


@transaction.atomic
def end_job(job: Job, state: str, error: str = "") -> None:
    """Note how a job ended."""
    job.state, job.error, job.finished_at = state, error, timezone.now()
    job.save(update_fields=["state", "error", "finished_at"])
    counts = {name: getattr(job, name) for name in job.COUNTS}
    audit.record(
        by=job.requested_by,
        action=f"{job.called}.{state}",
        target=job.subject,
        project=job.project,
        after=counts | ({"error": error} if error else {}),
    )
    for following in job.following():
        send(following)
    if leftover := job.leftover:
        transaction.on_commit(lambda: leftover.unlink(missing_ok=True))


def sweep_jobs() -> int:
    """Send for the jobs of every kind that no worker said anything of for a while; returns how many."""
    now, found = timezone.now(), 0
    for model in Job.__subclasses__():
        seen = model.in_turn().alias(seen_at=Coalesce("heartbeat_at", "created_at"))
        for job in seen.filter(seen_at__lt=now - STALLED_AFTER):
            model._default_manager.filter(pk=job.pk).update(heartbeat_at=now)
            send(job)
            found += 1
    return found


def locked(job: J) -> J:
    """The job as it is now, its row locked until the transaction ends."""
    rows = type(job)._default_manager.select_for_update(of=("self",))
    return rows.select_related("project").get(pk=job.pk)


@contextmanager
def _sole_worker(model: type[Job], pk: int) -> Iterator[bool]:
    """Hold a job's advisory lock for as long as this database session lives; False where another session holds it."""
    keys = (model._meta.label, pk)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtext(%s), %s)", keys)
        [alone] = cursor.fetchone()
    try:
        yield alone
    finally:
        if alone and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtext(%s), %s)", keys)


@transaction.atomic
def _take_up(model: type[J], pk: int) -> J | None:
    job = model.in_turn().select_for_update(of=("self",)).select_related("project").filter(pk=pk).first()
    if job is None:
        return None
    if job.cancel_requested:
        end_job(job, State.CANCELLED)
    elif job.attempts >= MAX_ATTEMPTS:
        died = Message("worker_died_repeatedly", n=job.attempts)
        end_job(job, State.FAILED, died)
    else:
        now = timezone.now()
        job.state, job.heartbeat_at, job.started_at = State.RUNNING, now, job.started_at or now
        job.attempts += 1
        job.save(update_fields=["state", "heartbeat_at", "started_at", "attempts"])
    return job
