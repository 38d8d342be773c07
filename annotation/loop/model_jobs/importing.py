"""Imports a model that was made elsewhere: a folder of the operator's becomes a challenger of a project."""

import shutil
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import storage
from annotation.core.errors import DomainError
from annotation.core.lifecycle import Cancelled, send
from annotation.loop import registry
from annotation.loop.gateway.training import read_manifest
from annotation.loop.model_jobs.library import run_command
from annotation.loop.rounds import runs
from annotation.models import ModelJob, ModelVersion, TrainingRun
from prm.messages import Message

FOLDER = "models/imports"


def importable_folders() -> list[str]:
    """The names of the folders that the operator offers for import."""
    names = storage.stored_below(FOLDER)
    return sorted(name for name in names if not storage.path_of(f"{FOLDER}/{name}").is_file())


def offer_folder(path: Path) -> str:
    """Offer a copy of a folder for import, also to other machines; returns its name."""
    key = f"{FOLDER}/{path.name}"
    storage.remove(key)
    shutil.copytree(path, storage.path_of(key))
    storage.publish(key)
    return path.name


def check(folder: str) -> None:
    """Raises DomainError (`no_such_folder`) unless the folder is offered for import."""
    if folder not in importable_folders():
        raise DomainError(Message("no_such_folder", folder=folder))


def perform(job: ModelJob) -> None:
    """Check and copy the folder, register it as a challenger, and start its measurement if there are enough labels."""
    assert job.source is not None
    check(job.source.folder)
    path = f"project-{job.project_id}/import-{job.pk}"
    key = f"models/{path}"
    options = [f"--separator={job.source.separator}", f"--good={job.source.good}"]
    version = job.model_version
    if version is None:
        storage.remove(key)  # of a killed attempt
        out, source = storage.path_of(key), storage.fetch(f"{FOLDER}/{job.source.folder}")
        try:
            run_command(job, "adopt", "--source", source, "--out", out, *options)
        except (Cancelled, DomainError):
            storage.remove(key)
            raise
        storage.publish(key)
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
