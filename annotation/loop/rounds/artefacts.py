"""What a run left on disk: its own folder and that of its model, listed and opened by name."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from annotation.core.errors import Missing
from annotation.models import TrainingRun
from prm.messages import Message

RUN, MODEL = "run", "model"


@dataclass(frozen=True)
class Artefact:
    """A file of `area` "run" or "model"; `name` is its path within."""

    area: str
    name: str
    bytes: int


def artefacts_of(run: TrainingRun) -> list[Artefact]:
    """The files that are there now, those of the run first."""
    return [
        Artefact(area, str(path.relative_to(folder)), path.stat().st_size)
        for area, folder in _folders(run).items()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    ]


def find_artefact(run: TrainingRun, area: str, name: str) -> Path:
    """The path of a listed file, and of no other. Raises Missing (`no_such_file`)."""
    folder = _folders(run).get(area)
    if folder is None or name not in {one.name for one in artefacts_of(run) if one.area == area}:
        raise Missing(Message("no_such_file", n=run.number, name=name))
    return folder / name


def run_folder(run: TrainingRun) -> Path:
    """Its intermediate files; every worker sees the same ones."""
    return Path(settings.RUN_ROOT) / str(run.pk)


def model_folder(run: TrainingRun) -> Path:
    """Where its training writes, checkpoint and model."""
    return Path(settings.MODEL_ROOT) / model_place(run)


def model_place(run: TrainingRun) -> str:
    """Relative to the folder of models."""
    return f"project-{run.project_id}/run-{run.number}"


def _folders(run: TrainingRun) -> dict[str, Path]:
    return {RUN: run_folder(run), MODEL: model_folder(run)}
