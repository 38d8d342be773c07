"""Deletes the files and logs of old runs, so that the disk does not fill. Their results stay."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from annotation.core import audit, storage
from annotation.core.periodic import for_each
from annotation.loop.rounds.artefacts import model_key, run_key
from annotation.models import Project, RunPoint, TrainingRun


def prune_runs(now: datetime | None = None) -> int:
    """Prune the runs that are older than their project's policy allows; returns how many."""
    now = now or timezone.now()
    return for_each(Project.objects.all(), lambda project: _prune_project(project, now))


def _prune_project(project: Project, now: datetime) -> int:
    days = project.policies.rounds.keep_days
    if not days:
        return 0
    ended = project.training_runs.exclude(state__in=TrainingRun.LIVE)
    old = ended.filter(finished_at__lt=now - timedelta(days=days), pruned_at=None)
    return sum(_prune(run, now) for run in old)


@transaction.atomic
def _prune(run: TrainingRun, now: datetime) -> bool:
    """Delete the run's folder, its log, and a checkpoint without a model; models have their own retention policy.

    The row is locked until the files are deleted, so that nobody resumes the run before.
    """
    ended = TrainingRun.objects.filter(pk=run.pk, pruned_at=None).exclude(state__in=TrainingRun.LIVE)
    if not ended.update(pruned_at=now):
        return False
    points, _by_table = RunPoint.objects.filter(run=run).delete()
    audit.record(by=None, action="run.prune", target=run, after={"log_lines": points})
    for key in [run_key(run)] if run.model_version_id else [run_key(run), model_key(run)]:
        storage.remove(key)
    return True
