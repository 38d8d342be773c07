"""Rounds come first: every other job of the `gpu` queue gives way to a round's stage that waits there."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.core.lifecycle import Postponed
from annotation.models import RunStage, TrainingRun

PATIENCE = timedelta(seconds=2)  # another worker of the queue may be free


def round_waits() -> bool:
    """Whether a round's next stage has found no worker of the `gpu` queue for a while, or waits there for a device."""
    before = RunStage.objects.filter(run=OuterRef("run"), order__lt=OuterRef("order")).exclude(state__in=RunStage.ENDED)
    waiting = RunStage.objects.filter(
        ~Exists(before), queue="gpu", state=RunStage.State.WAITING, run__state__in=TrainingRun.LIVE
    )
    return waiting.filter(Q(run__heartbeat_at__lt=timezone.now() - PATIENCE) | Q(attempts__gt=0)).exists()


def give_way() -> None:
    """Raises Postponed where a round waits for the worker or its device."""
    if round_waits():
        raise Postponed
