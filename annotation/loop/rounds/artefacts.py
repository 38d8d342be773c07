"""Lists and finds the files of a run: those of its own folder and of its model's."""

from dataclasses import dataclass
from pathlib import Path

from annotation.core import storage
from annotation.core.errors import Missing
from annotation.models import TrainingRun
from prm.messages import Message

RUN, MODEL = "run", "model"
TRAINER_LOG = "train.log"


@dataclass(frozen=True)
class Artefact:
    """A file in the folder of the `area` "run" or "model"; `name` is its path in that folder."""

    area: str
    name: str
    bytes: int


def artefacts_of(run: TrainingRun) -> list[Artefact]:
    """The existing files, those of the run first."""
    return [Artefact(area, name, size) for area, key in _keys(run).items() for name, size in storage.sizes(key).items()]


def find_artefact(run: TrainingRun, area: str, name: str) -> Path:
    """The path of a listed file, and of no other. Raises Missing (`no_such_file`)."""
    key = _keys(run).get(area)
    if key is None or name not in storage.sizes(key):
        raise Missing(Message("no_such_file", n=run.number, name=name))
    return storage.fetch(key, name) / name


def run_key(run: TrainingRun) -> str:
    """The key of the folder of its intermediate files, which all workers share."""
    return f"runs/{run.pk}"


def model_key(run: TrainingRun) -> str:
    """The key of the folder of its checkpoint and model."""
    return f"models/{model_place(run)}"


def run_folder(run: TrainingRun) -> Path:
    """The folder of `run_key`. Raises as `storage.fetch`."""
    return storage.fetch(run_key(run))


def model_folder(run: TrainingRun) -> Path:
    """The folder of `model_key`. Raises as `storage.fetch`."""
    return storage.fetch(model_key(run))


def model_place(run: TrainingRun) -> str:
    """The model's folder, relative to the folder of all models."""
    return f"project-{run.project_id}/run-{run.number}"


def _keys(run: TrainingRun) -> dict[str, str]:
    return {RUN: run_key(run), MODEL: model_key(run)}
