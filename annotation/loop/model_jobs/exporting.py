"""A version as a Hugging Face folder: made by a job, downloaded as a tar file that is packed while it is sent."""

import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from annotation.core.errors import Missing
from annotation.loop.gateway.training import model_path
from annotation.loop.model_jobs.library import run_command
from annotation.models import ModelJob, ModelVersion
from prm.messages import Message

CHUNK = 1 << 20
BLOCK = tarfile.BLOCKSIZE


def export_path(version: ModelVersion) -> Path:
    """Where the version's export lies, if there is one."""
    folder: Path = settings.MODEL_ROOT / "exports" / str(version.pk)
    return folder


def perform(job: ModelJob) -> None:
    """Write the folder anew; whoever downloads the earlier one meanwhile gets it whole or not at all."""
    version = job.model_version
    assert version is not None
    out = export_path(version)
    partial = out.with_name(f"{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        run_command(job, "export", "--model", model_path(version), "--out", partial)
        shutil.rmtree(out, ignore_errors=True)
        partial.rename(out)
        job.message = Message("model_ready_to_download", n=version.number)
        job.save(update_fields=["message"])
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def export_name(version: ModelVersion) -> str:
    """The name of the download, and of the folder in it."""
    return f"{version.project.slug}-model-{version.number}"


def packed_export(version: ModelVersion) -> Iterator[bytes]:
    """The export as a tar file, a piece at a time. Raises Missing (`not_exported`)."""
    folder = export_path(version)
    if not folder.is_dir():
        raise Missing(Message("not_exported", n=version.number))
    return _packed(sorted(folder.iterdir()), export_name(version))


def _packed(files: list[Path], folder: str) -> Iterator[bytes]:
    for path in files:
        with open(path, "rb") as file:
            head = tarfile.TarInfo(f"{folder}/{path.name}")
            head.size, head.mtime = path.stat().st_size, int(path.stat().st_mtime)
            yield head.tobuf()
            while chunk := file.read(CHUNK):
                yield chunk
        yield bytes(-head.size % BLOCK)
    yield bytes(2 * BLOCK)
