"""Imports a model that was made elsewhere: a folder of the operator's becomes a challenger of a project."""

import shutil
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from annotation.core.errors import DomainError
from annotation.core.lifecycle import Cancelled, send
from annotation.loop import registry
from annotation.loop.gateway.training import read_manifest
from annotation.loop.model_jobs.library import run_command
from annotation.loop.rounds import runs
from annotation.models import ModelJob, ModelVersion, TrainingRun
from prm.messages import Message

FOLDER = "imports"


def importable_folders() -> list[str]:
    """The names of the folders that the operator offers for import."""
    root = _root()
    return sorted(path.name for path in root.iterdir() if path.is_dir()) if root.is_dir() else []


def check(folder: str) -> None:
    """Raises DomainError (`no_such_folder`) unless the folder is offered for import."""
    if folder not in importable_folders():
        raise DomainError(Message("no_such_folder", folder=folder))


def perform(job: ModelJob) -> None:
    """Check and copy the folder, register it as a challenger, and start its measurement if there are enough labels."""
    assert job.source is not None
    check(job.source.folder)
    path = f"project-{job.project_id}/import-{job.pk}"
    out = settings.MODEL_ROOT / path
    options = [f"--separator={job.source.separator}", f"--good={job.source.good}"]
    version = job.model_version
    if version is None:
        shutil.rmtree(out, ignore_errors=True)  # of a killed attempt
        try:
            run_command(job, "adopt", "--source", _root() / job.source.folder, "--out", out, *options)
        except (Cancelled, DomainError):
            shutil.rmtree(out, ignore_errors=True)
            raise
        manifest, sha256 = read_manifest(out)
        version = registry.register_version(job=job, path=path, sha256=sha256, manifest=manifest)
    try:
        request_measurement(by=job.requested_by, version=version)
    except DomainError as error:
        job.message = Message("import_not_measured_yet", n=version.number, error=error)
        job.save(update_fields=["message"])


@transaction.atomic
def request_measurement(*, by: User | None, version: ModelVersion) -> TrainingRun:
    """Start a round without training: the gate measures the imported version, which serves if it is better.

    Raises Forbidden, Conflict (`run_in_progress`, `weights_deleted`), DomainError (`too_few_labels`,
    `no_errors_labelled`, `not_imported`).
    """
    if version.origin != ModelVersion.Origin.IMPORTED or version.gate is not None:
        raise DomainError(Message("not_imported", n=version.number))
    registry.require_weights(version)
    run = runs.prepare_run(by=by, project=version.project, trigger=TrainingRun.Trigger.IMPORT)
    TrainingRun.objects.filter(model_version=version).update(model_version=None)  # of an earlier, failed round
    run.model_version = version
    run.save(update_fields=["model_version"])
    send(run)
    return run


def _root() -> Path:
    root: Path = settings.MODEL_ROOT / FOLDER
    return root
