"""Work on a model that takes minutes: asked for here, done by a worker of the `gpu` queue in a subprocess.

A job may be done again at any time with the same result, so one whose worker died is asked for again.
"""

import logging
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import audit
from annotation import jobs as tasks
from annotation.errors import Conflict, DomainError
from annotation.membership.access import require_role
from annotation.models import Membership, ModelJob, ModelVersion, Project
from annotation.rounds.precedence import GaveWay, round_waits
from annotation.rounds.registry import auditing, exporting, importing

log = logging.getLogger(__name__)

QUEUE = "gpu"
STALL_SECONDS = 60
MAX_ATTEMPTS = 3
WORK = {
    ModelJob.Kind.AUDIT: auditing.perform,
    ModelJob.Kind.EXPORT: exporting.perform,
    ModelJob.Kind.IMPORT: importing.perform,
}


def request_audit(*, by: User, version: ModelVersion) -> ModelJob:
    """Audit a version on the holdout of its snapshot.

    Raises Forbidden, Conflict (`job_in_progress`, `weights_deleted`), DomainError (`no_snapshot`).
    """
    auditing.check(version)
    return _request(by, version.project, ModelJob.Kind.AUDIT, version, {})


def request_export(*, by: User, version: ModelVersion) -> ModelJob:
    """Write a version as a Hugging Face folder. Raises Forbidden, Conflict (`job_in_progress`, `weights_deleted`)."""
    return _request(by, version.project, ModelJob.Kind.EXPORT, version, {})


def request_import(*, by: User, project: Project, folder: str, separator: str = "\n", good: int = 1) -> ModelJob:
    """Import a folder that the operator has put among the imports, and have it measured.

    Raises Forbidden, DomainError (`no_such_folder`).
    """
    importing.check(folder)
    options = {"folder": folder, "separator": separator, "good": good}
    return _request(by, project, ModelJob.Kind.IMPORT, None, options)


def run_job(job_id: int) -> None:
    """Do a job that waits; does nothing where another worker has it, nor while an unasked one is in a round's way."""
    waiting = ModelJob.objects.filter(pk=job_id, state=ModelJob.State.QUEUED)
    if waiting.filter(requested_by=None).exists() and round_waits():
        return
    if not waiting.update(state=ModelJob.State.RUNNING, beaten_at=timezone.now()):
        return
    job = ModelJob.objects.select_related("project", "model_version").get(pk=job_id)
    try:
        WORK[ModelJob.Kind(job.kind)](job)
    except GaveWay:
        ModelJob.objects.filter(pk=job.pk).update(state=ModelJob.State.QUEUED, said="Waits for a round to end.")
    except DomainError as error:
        _end(job, ModelJob.State.FAILED, error.message)
    except Exception as error:
        log.exception("Job %s failed", job.pk)
        _end(job, ModelJob.State.FAILED, f"{type(error).__name__}: {error}")
    else:
        _end(job, ModelJob.State.DONE, "")


def sweep_jobs() -> int:
    """Ask again for the jobs that nobody works on any more; returns how many."""
    old = timezone.now() - timedelta(seconds=STALL_SECONDS)
    lost = ModelJob.objects.filter(state=ModelJob.State.RUNNING, beaten_at__lt=old)
    for job in lost.filter(attempts__gte=MAX_ATTEMPTS - 1).select_related("project", "model_version"):
        _end(job, ModelJob.State.FAILED, f"its worker died {MAX_ATTEMPTS} times. Look at the worker's log.")
    for job in lost:
        ModelJob.objects.filter(pk=job.pk).update(state=ModelJob.State.QUEUED, attempts=job.attempts + 1)
    waiting = ModelJob.objects.filter(state=ModelJob.State.QUEUED, created_at__lt=old)
    for pk in waiting.values_list("pk", flat=True):
        tasks.enqueue("rounds.model_job", pk, queue=QUEUE)
    return waiting.count()


def audit_champions() -> int:
    """Ask for the audits of champions that have none; returns how many."""
    asked = 0
    for version in ModelVersion.objects.filter(state=ModelVersion.State.CHAMPION, audits={}).select_related("project"):
        if version.snapshot_id is None or version.jobs.filter(kind=ModelJob.Kind.AUDIT).exists():
            continue
        _request(None, version.project, ModelJob.Kind.AUDIT, version, {})
        asked += 1
    return asked


@transaction.atomic
def _request(
    by: User | None, project: Project, kind: str, version: ModelVersion | None, options: dict[str, Any]
) -> ModelJob:
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    if version is not None and version.weights_deleted_at is not None:
        raise Conflict(
            "weights_deleted",
            _("The weights of model %(n)s were deleted by the retention policy.") % {"n": version.number},
        )
    try:
        with transaction.atomic():
            job = ModelJob.objects.create(
                project=project, kind=kind, model_version=version, options=options, requested_by=by
            )
    except IntegrityError:
        raise Conflict("job_in_progress", _("This is being done already. Wait for it to end.")) from None
    audit.record(by=by, action=f"model.{kind}", target=version or job, project=project, after=options)
    tasks.enqueue("rounds.model_job", job.pk, queue=QUEUE)
    return job


@transaction.atomic
def _end(job: ModelJob, state: str, error: str) -> None:
    job.state, job.error, job.finished_at = state, error, timezone.now()
    job.save(update_fields=["state", "error", "finished_at"])
    audit.record(
        by=None,
        action=f"model.{job.kind}.{state}",
        target=job.model_version or job,
        project=job.project,
        after={"error": error} if error else {},
    )
