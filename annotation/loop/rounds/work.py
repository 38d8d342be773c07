"""What a stage has in hand while it runs: its rows, its folder, its heartbeat and its log."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from django.db.models import F
from django.utils import timezone

from annotation.core.lifecycle import Cancelled
from annotation.loop.processes.lock import Lock
from annotation.loop.processes.watched import BEAT_SECONDS
from annotation.loop.rounds.artefacts import run_folder
from annotation.models import ModelVersion, Project, RunPoint, RunStage, Snapshot, TrainingRun
from prm.messages import Message


@dataclass(frozen=True)
class Outcome:
    """How a stage ended: the one figure that sums it up, and whether there was nothing to do.

    A stage that is `unfinished` lets go of its worker in between and is asked for again.
    """

    figure: Message
    skipped: bool = False
    unfinished: bool = False


@dataclass
class StageWork:
    run: TrainingRun
    stage: RunStage
    lock: Lock
    _beaten_at: float = field(default=0.0)
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

        Raises Cancelled when someone asked for that, and LockLost when the lock is gone.
        """
        if time.monotonic() - self._beaten_at < BEAT_SECONDS:
            return
        self._beaten_at = time.monotonic()
        self.lock.check()
        TrainingRun.objects.filter(pk=self.run.pk).update(heartbeat_at=timezone.now())
        self.count_seconds()
        if progress is not None:
            RunStage.objects.filter(pk=self.stage.pk).update(progress=min(max(progress, 0.0), 1.0))
        if TrainingRun.objects.filter(pk=self.run.pk, cancel_requested=True).exists():
            raise Cancelled

    def count_seconds(self) -> None:
        """Add the time since the last call to what the stage has cost."""
        now = time.monotonic()
        RunStage.objects.filter(pk=self.stage.pk).update(seconds=F("seconds") + (now - self._counted_at))
        self._counted_at = now

    def log(self, message: str = "", **figures: float | None) -> None:
        """Append a line to the run's log; `figures` are those of a RunPoint."""
        RunPoint.objects.create(run=self.run, stage=self.stage.name, message=message, **figures)
