"""Exports a version as a Hugging Face folder; the download is a tar file that is packed while it is sent."""

import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from annotation.core import storage
from annotation.core.errors import Missing
from annotation.loop.gateway.training import model_path
from annotation.loop.model_jobs.library import run_command
from annotation.models import ModelJob, ModelVersion
from prm.messages import Message

CHUNK = 1 << 20
BLOCK = tarfile.BLOCKSIZE


def export_key(version: ModelVersion) -> str:
    return f"models/exports/{version.pk}"


def export_path(version: ModelVersion) -> Path:
    """The folder of the version's export. Raises as `storage.fetch`."""
    return storage.fetch(export_key(version))


def is_exported(version: ModelVersion) -> bool:
    return bool(storage.sizes(export_key(version)))


def perform(job: ModelJob) -> None:
    """Write the folder and replace an earlier one."""
    version = job.model_version
    assert version is not None
    out = storage.path_of(export_key(version))
    partial = out.with_name(f"{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        run_command(job, "export", "--model", model_path(version), "--out", partial)
        storage.remove(export_key(version))
        partial.rename(out)
        storage.publish(export_key(version))
        job.message = Message("model_ready_to_download", n=version.number)
        job.save(update_fields=["message"])
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def export_name(version: ModelVersion) -> str:
    """The name of the download, and of the folder in it."""
    return f"{version.project.slug}-model-{version.number}"


def packed_export(version: ModelVersion) -> Iterator[bytes]:
    """The export as a tar file, a piece at a time. Raises Missing (`not_exported`)."""
    if not is_exported(version):
        raise Missing(Message("not_exported", n=version.number))
    return _packed(sorted(export_path(version).iterdir()), export_name(version))


def _packed(paths: list[Path], folder: str) -> Iterator[bytes]:
    with ExitStack() as stack:
        # All are opened first: a job may replace the folder during the download.
        for path, file in [(path, stack.enter_context(open(path, "rb"))) for path in paths]:
            head, status = tarfile.TarInfo(f"{folder}/{path.name}"), os.fstat(file.fileno())
            head.size, head.mtime = status.st_size, int(status.st_mtime)
            yield head.tobuf()
            while chunk := file.read(CHUNK):
                yield chunk
            yield bytes(-head.size % BLOCK)
    yield bytes(2 * BLOCK)
