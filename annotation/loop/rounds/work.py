"""What a stage has in hand while it runs: its rows, its folder, its heartbeat and its log."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.db.models import F

from annotation.core.lifecycle import BEAT_SECONDS, beat
from annotation.loop.processes import devices
from annotation.loop.rounds.artefacts import run_folder
from annotation.models import ModelVersion, Project, RunPoint, RunStage, Snapshot, TrainingRun


@dataclass
class StageWork:
    run: TrainingRun
    stage: RunStage
    _beaten_at: float = field(default=-BEAT_SECONDS)
    _counted_at: float = field(default_factory=time.monotonic)

    @property
    def project(self) -> Project:
        return self.run.project

    @property
    def snapshot(self) -> Snapshot:
        """What the first stage froze."""
        assert self.run.snapshot is not None
        return self.run.snapshot

    @property
    def version(self) -> ModelVersion:
        """What the training made."""
        assert self.run.model_version is not None
        return self.run.model_version

    @property
    def folder(self) -> Path:
        """The run's folder of intermediate files; every worker sees the same one."""
        folder = run_folder(self.run)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def beat(self, progress: float | None = None) -> None:
        """Tell that the stage is alive and how much of it is done (0 to 1); call it often.

        Raises Cancelled when someone asked for that.
        """
        if time.monotonic() - self._beaten_at < BEAT_SECONDS:
            return
        self._beaten_at = time.monotonic()
        self.count_seconds()
        if progress is not None:
            RunStage.objects.filter(pk=self.stage.pk).update(progress=min(max(progress, 0.0), 1.0))
        beat(self.run)

    @contextmanager
    def training_slot(self) -> Iterator[str]:
        """Hold a free slot of GPUs. While it waits for one it is seen to wait, and what is no round gives way."""
        with devices.training_slot(on_wait=lambda: self._show(RunStage.State.WAITING)) as slot:
            self._show(RunStage.State.RUNNING)
            yield slot

    def _show(self, state: RunStage.State) -> None:
        RunStage.objects.filter(pk=self.stage.pk).update(state=state)
        self.beat()

    def count_seconds(self) -> None:
        """Add the time since the last call to what the stage has cost."""
        now = time.monotonic()
        RunStage.objects.filter(pk=self.stage.pk).update(seconds=F("seconds") + (now - self._counted_at))
        self._counted_at = now

    def log(self, message: str = "", **figures: float | None) -> None:
        """Append a line to the run's log; `figures` are those of a RunPoint."""
        RunPoint.objects.create(run=self.run, stage=self.stage.name, message=message, **figures)
