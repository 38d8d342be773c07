"""Lists and finds the files of a run: those of its own folder and of its model's."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from annotation.core.errors import Missing
from annotation.models import TrainingRun
from prm.messages import Message

RUN, MODEL = "run", "model"


@dataclass(frozen=True)
class Artefact:
    """A file in the folder of the `area` "run" or "model"; `name` is its path in that folder."""

    area: str
    name: str
    bytes: int


def artefacts_of(run: TrainingRun) -> list[Artefact]:
    """The existing files, those of the run first."""
    return [
        Artefact(area, str(path.relative_to(folder)), path.stat().st_size)
        for area, folder in _folders(run).items()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    ]


def find_artefact(run: TrainingRun, area: str, name: str) -> Path:
    """The path of a listed file, and of no other. Raises Missing (`no_such_file`)."""
    folder = _folders(run).get(area)
    if folder is None or name not in {artefact.name for artefact in artefacts_of(run) if artefact.area == area}:
        raise Missing(Message("no_such_file", n=run.number, name=name))
    return folder / name


def run_folder(run: TrainingRun) -> Path:
    """The folder of its intermediate files, which all workers share."""
    return Path(settings.RUN_ROOT) / str(run.pk)


def model_folder(run: TrainingRun) -> Path:
    """The folder of its checkpoint and model."""
    return Path(settings.MODEL_ROOT) / model_place(run)


def model_place(run: TrainingRun) -> str:
    """The model's folder, relative to the folder of all models."""
    return f"project-{run.project_id}/run-{run.number}"


def _folders(run: TrainingRun) -> dict[str, Path]:
    return {RUN: run_folder(run), MODEL: model_folder(run)}
