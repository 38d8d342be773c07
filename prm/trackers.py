"""Where a run's curves go: a registry of experiment trackers, whose packages are imported only when a run uses them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from prm.errors import DataError
from prm.messages import Message
from prm.registry import Registry

TENSORBOARD_FOLDER = "tensorboard"
RUN_TAG = "stepmark.run"


@dataclass(frozen=True)
class TrackedRun:
    """A run that starts, or resumes after optimiser step `step`; `id` stays the same. `config` is plain values."""

    folder: Path
    id: str
    step: int
    config: dict[str, Any]


class Tracker(Protocol):
    """Receives the figures of one run."""

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Record figures by name after an optimiser step."""

    def close(self) -> None:
        """Send the rest."""


class TrackerKind(Protocol):
    """Opens a tracker of a run; an attribute `package` names what must be installed for it."""

    def __call__(self, run: TrackedRun) -> Tracker: ...


TRACKERS: Registry[TrackerKind] = Registry("stepmark.trackers", Message("kind_tracker"), built_in=("prm.trackers",))


def find_trackers(names: Sequence[str]) -> dict[str, TrackerKind]:
    """The trackers of these names. Raises DataError for an unknown one, or if its package is not installed."""
    kinds = {name: TRACKERS.get(name) for name in names}
    for name, kind in kinds.items():
        package = getattr(kind, "package", "")
        if package and find_spec(package) is None:
            raise DataError(Message("tracker_needs_package", name=name, package=package))
    return kinds


@TRACKERS.register("tensorboard")
class TensorBoard:
    """Files in the model's folder. A resumed run deletes its later points."""

    def __init__(self, run: TrackedRun) -> None:
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(str(run.folder / TENSORBOARD_FOLDER), purge_step=run.step or None)

    def log(self, values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


@TRACKERS.register("wandb")
class WeightsAndBiases:
    """A run of Weights & Biases, which the environment configures (WANDB_PROJECT, WANDB_API_KEY, WANDB_MODE)."""

    package = "wandb"

    def __init__(self, run: TrackedRun) -> None:
        import wandb

        self._run = wandb.init(
            dir=str(run.folder), name=run.folder.name, id=run.id, resume="allow", config=run.config, reinit="create_new"
        )

    def log(self, values: Mapping[str, float], step: int) -> None:
        self._run.log(dict(values), step=step)

    def close(self) -> None:
        self._run.finish()


@TRACKERS.register("mlflow")
class MLflow:
    """A run of MLflow, which the environment configures (MLFLOW_TRACKING_URI, MLFLOW_EXPERIMENT_NAME)."""

    package = "mlflow"

    def __init__(self, run: TrackedRun) -> None:
        import mlflow

        self._mlflow = mlflow
        found = mlflow.search_runs(filter_string=f"tags.`{RUN_TAG}` = '{run.id}'", output_format="list", max_results=1)
        resumed = found[0].info.run_id if found else None
        opened = mlflow.start_run(run_id=resumed, run_name=run.folder.name, nested=True, tags={RUN_TAG: run.id})
        self._id = opened.info.run_id
        mlflow.log_params(run.config)

    def log(self, values: Mapping[str, float], step: int) -> None:
        self._mlflow.log_metrics(dict(values), step=step, run_id=self._id, synchronous=False)

    def close(self) -> None:
        self._mlflow.flush_async_logging()
        self._mlflow.end_run()
