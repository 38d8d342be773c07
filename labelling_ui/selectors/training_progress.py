"""The progress of a training run, from its latest logged figures."""

from dataclasses import dataclass

from annotation.models import RunPoint, RunStage, TrainingRun

LEAST_SHARE = 0.02  # of a stage, before its remaining time is estimated


@dataclass(frozen=True)
class TrainingProgress:
    """Losses in nats a labelled step; `seconds_left` of the training stage. None where it is not known."""

    step: int
    of: int
    loss: float | None
    held_loss: float | None
    tokens_per_second: float | None
    utilisation: float | None
    seconds_left: float | None


def progress_of_training(run: TrainingRun) -> TrainingProgress | None:
    """The latest figures; None before the first."""
    points = RunPoint.objects.filter(run=run, loss__isnull=False).order_by("-pk")
    last = points.first()
    if last is None or not last.of or last.step is None:
        return None
    held = points.filter(held_loss__isnull=False).first()
    return TrainingProgress(
        step=last.step,
        of=last.of,
        loss=last.loss,
        held_loss=held.held_loss if held else None,
        tokens_per_second=last.tokens_per_second,
        utilisation=last.utilisation,
        seconds_left=_seconds_left(run),
    )


def _seconds_left(run: TrainingRun) -> float | None:
    """The elapsed time in proportion to the rest; early stopping often ends training sooner."""
    stage = run.stages.filter(name=RunStage.Name.TRAIN, state=RunStage.State.RUNNING).first()
    if stage is None or stage.progress < LEAST_SHARE:
        return None
    return stage.seconds * (1 - stage.progress) / stage.progress
