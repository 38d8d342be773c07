"""Deletes old weights. A project keeps those of its latest versions, of versions that serve, and of pinned ones.

The rows stay, with manifest, metrics and verdict, because generations and snapshots refer to them.
"""

import logging

from django.db import OperationalError, transaction
from django.utils import timezone

from annotation.core import audit, storage
from annotation.core.periodic import for_each
from annotation.loop.gateway.training import model_key
from annotation.loop.model_jobs.exporting import export_key
from annotation.loop.pool.partitions import drop_partition
from annotation.models import ModelJob, ModelVersion, Project, TrainingRun

log = logging.getLogger(__name__)


def keep_to_policy() -> int:
    """Delete the weights that the projects' policies no longer keep; returns of how many versions."""
    try:
        return for_each(Project.objects.all(), _keep_to_policy)
    finally:
        for version in ModelVersion.objects.filter(weights_deleted_at__isnull=False, files_deleted=False):
            _remove_files(version)  # a process may have died between the two steps


def _keep_to_policy(project: Project) -> int:
    deleted = 0
    for version in due_versions(project):
        try:
            deleted += delete_weights(version)
        except OperationalError:  # a long read of its scores: the next run of this task retries
            log.warning("The weights of %s are not deleted yet: its scores are in use", version)
    return deleted


def due_versions(project: Project) -> list[ModelVersion]:
    """The versions whose weights the policy does not keep, oldest first."""
    latest = project.model_versions.order_by("-number").values("pk")[: project.policies.keep_models]
    old = (
        project.model_versions.filter(pinned=False, weights_deleted_at=None, domains=None)
        .exclude(state=ModelVersion.State.CHAMPION)
        .exclude(run__state__in=TrainingRun.LIVE)
        .exclude(jobs__state__in=ModelJob.LIVE)
    )
    return list(old.exclude(pk__in=list(latest.values_list("pk", flat=True))).order_by("number"))


def delete_weights(version: ModelVersion) -> bool:
    """Mark the version, drop its pool scores and delete its files; returns False if it is no longer due.

    Raises OperationalError if a long read locks the scores.
    """
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=version.project_id)  # against a promotion
        if version.pk not in {due.pk for due in due_versions(version.project)}:
            return False
        drop_partition(version)
        ModelVersion.objects.filter(pk=version.pk).update(weights_deleted_at=timezone.now())
        audit.record(
            by=None,
            action="model.delete_weights",
            target=version,
            before={"path": version.path, "sha256": version.sha256},
            after={"keep_models": version.project.policies.keep_models},
        )
        transaction.on_commit(lambda: _remove_files(version))
    return True


def _remove_files(version: ModelVersion) -> None:
    storage.remove(model_key(version))
    storage.remove(export_key(version))
    ModelVersion.objects.filter(pk=version.pk).update(files_deleted=True)
