"""Rounds come first: every other job of the `gpu` queue gives way to a round's stage that waits there."""

from datetime import timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.core.lifecycle import Postponed
from annotation.models import RunStage, TrainingRun

ON_GPU = (RunStage.Name.TRAIN, RunStage.Name.SHADOW)
PATIENCE = timedelta(seconds=2)  # another worker of the queue may be free
ENDED = (RunStage.State.DONE, RunStage.State.SKIPPED)


def round_waits() -> bool:
    """Whether a round's next stage has found no worker of the `gpu` queue for a while."""
    before = RunStage.objects.filter(run=OuterRef("run"), order__lt=OuterRef("order")).exclude(state__in=ENDED)
    waiting = RunStage.objects.filter(
        ~Exists(before),
        name__in=ON_GPU,
        state=RunStage.State.WAITING,
        run__state__in=TrainingRun.LIVE,
        run__heartbeat_at__lt=timezone.now() - PATIENCE,
    )
    return waiting.exists()


def give_way() -> None:
    """Raises Postponed where a round waits for the worker."""
    if round_waits():
        raise Postponed
