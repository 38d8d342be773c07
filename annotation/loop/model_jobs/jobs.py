"""Requests jobs on a model that take minutes; a worker of the `gpu` queue does them in a subprocess.

A job may run again at any time with the same result, so a job whose worker died is enqueued again. Rounds have
priority: a running job stops for one, and starts again later.
"""

import msgspec
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.core import audit
from annotation.core.errors import Conflict
from annotation.core.lifecycle import Postponed, run_job, send
from annotation.core.membership.access import require_role
from annotation.core.periodic import for_each
from annotation.loop import registry
from annotation.loop.model_jobs import auditing, exporting, importing
from annotation.loop.processes.devices import give_way
from annotation.models import Membership, ModelJob, ModelVersion, Project
from annotation.models.model_job import ImportedFolder
from prm.messages import Message

PERFORM = {
    ModelJob.Kind.AUDIT: auditing.perform,
    ModelJob.Kind.EXPORT: exporting.perform,
    ModelJob.Kind.IMPORT: importing.perform,
}


def request_audit(*, by: User, version: ModelVersion) -> ModelJob:
    """Audit a version on the holdout of its snapshot.

    Raises Forbidden, Conflict (`job_in_progress`, `weights_deleted`), DomainError (`no_snapshot`).
    """
    auditing.check(version)
    return _request(by, version.project, ModelJob.Kind.AUDIT, version)


def request_export(*, by: User, version: ModelVersion) -> ModelJob:
    """Write a version as a Hugging Face folder. Raises Forbidden, Conflict (`job_in_progress`, `weights_deleted`)."""
    return _request(by, version.project, ModelJob.Kind.EXPORT, version)


def request_import(*, by: User, project: Project, folder: str, separator: str = "\n", good: int = 1) -> ModelJob:
    """Import a model from one of the operator's folders, and measure it.

    Raises Forbidden, DomainError (`no_such_folder`).
    """
    importing.check(folder)
    return _request(by, project, ModelJob.Kind.IMPORT, None, ImportedFolder(folder, separator, good))


def run_model_job(job_id: int) -> None:
    """Do a job, unless a round waits for the worker."""
    run_job(ModelJob, job_id, _perform)


def _perform(job: ModelJob) -> None:
    try:
        give_way()
        PERFORM[ModelJob.Kind(job.kind)](job)
    except Postponed:
        job.message = Message("training_goes_first")
        job.save(update_fields=["message"])
        raise


def audit_champions() -> int:
    """Request the audits of champions that have none; returns how many."""
    champions = ModelVersion.objects.filter(state=ModelVersion.State.CHAMPION, audits__isnull=True)
    return for_each(champions.select_related("project"), _audit_champion)


def _audit_champion(version: ModelVersion) -> bool:
    if version.snapshot_id is None or version.jobs.filter(kind=ModelJob.Kind.AUDIT).exists():
        return False
    _request(None, version.project, ModelJob.Kind.AUDIT, version)
    return True


@transaction.atomic
def _request(
    by: User | None, project: Project, kind: str, version: ModelVersion | None, source: ImportedFolder | None = None
) -> ModelJob:
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    if version is not None:
        registry.require_weights(version)
    try:
        with transaction.atomic():
            job = ModelJob.objects.create(
                project=project, kind=kind, model_version=version, source=source, requested_by=by
            )
    except IntegrityError:
        raise Conflict(Message("job_in_progress")) from None
    after = msgspec.structs.asdict(source) if source else {}
    audit.record(by=by, action=job.audit_name, target=job.subject, after=after)
    send(job)
    return job
