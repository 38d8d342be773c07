"""The context of a running stage: its rows, folder, heartbeat and log."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from django.db.models import F

from annotation.core.lifecycle import BEAT_SECONDS, beat
from annotation.loop.processes import devices
from annotation.loop.rounds.artefacts import run_folder
from annotation.models import ModelVersion, Project, RunPoint, RunStage, Snapshot, TrainingRun


@dataclass
class StageWork:
    """What a stage gets to work on."""

    run: TrainingRun
    stage: RunStage
    _beaten_at: float = field(default=-BEAT_SECONDS)
    _counted_at: float = field(default_factory=time.monotonic)

    @property
    def project(self) -> Project:
        return self.run.project

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that the first stage created."""
        assert self.run.snapshot is not None
        return self.run.snapshot

    @property
    def version(self) -> ModelVersion:
        """The version that the training created, or that was imported."""
        assert self.run.model_version is not None
        return self.run.model_version

    @cached_property
    def folder(self) -> Path:
        """The run's folder of intermediate files, which all workers share: other stages may run on other machines."""
        folder = run_folder(self.run)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def beat(self, progress: float | None = None) -> None:
        """Write a heartbeat and the stage's progress (0 to 1); call it often. Raises Cancelled."""
        if time.monotonic() - self._beaten_at < BEAT_SECONDS:
            return
        self._beaten_at = time.monotonic()
        self.count_seconds()
        if progress is not None:
            RunStage.objects.filter(pk=self.stage.pk).update(progress=min(max(progress, 0.0), 1.0))
        beat(self.run)

    @contextmanager
    def training_slot(self) -> Iterator[str]:
        """Hold a free slot of GPUs. The stage is in state WAITING until one is free, and other jobs give way to it."""
        with devices.training_slot(on_wait=lambda: self._set_state(RunStage.State.WAITING)) as slot:
            self._set_state(RunStage.State.RUNNING)
            yield slot

    def _set_state(self, state: RunStage.State) -> None:
        RunStage.objects.filter(pk=self.stage.pk).update(state=state)
        self.beat()

    def count_seconds(self) -> None:
        """Add the time since the last call to the seconds of the stage."""
        now = time.monotonic()
        RunStage.objects.filter(pk=self.stage.pk).update(seconds=F("seconds") + (now - self._counted_at))
        self._counted_at = now

    def log(self, message: str = "", **figures: float | None) -> None:
        """Append a line to the run's log; `figures` are those of a RunPoint."""
        RunPoint.objects.create(run=self.run, stage=self.stage.name, message=message, **figures)
