"""Assigns the GPUs of this machine to trainings, and gives rounds priority on the `gpu` queue.

A training holds one slot of GPUs, by a lock that ends with its worker. Every other job of the queue stops while a
stage of a round waits there.
"""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.core.lifecycle import Postponed
from annotation.core.locks import advisory_lock
from annotation.models import RunStage, TrainingRun

RETRY_SECONDS = 1.0
PATIENCE = timedelta(seconds=2)  # in which another worker of the queue may take the stage


@contextmanager
def training_slot(on_wait: Callable[[], None]) -> Iterator[str]:
    """Hold a free slot of GPUs ("0", or "2,3") for the block; "" without slots, which does not limit the trainer.

    `on_wait` is called about once a second while no slot is free, and may raise.
    """
    slots = settings.TRAINING_DEVICES
    if not slots:
        yield ""
        return
    while True:
        for slot in slots:
            with advisory_lock(f"gpus {slot} of {socket.gethostname()}") as mine:
                if mine:
                    yield slot
                    return
        on_wait()
        time.sleep(RETRY_SECONDS)


def round_waits() -> bool:
    """Whether the next stage of a round has waited for a worker of the `gpu` queue, or waits for a device."""
    earlier = RunStage.objects.filter(run=OuterRef("run"), order__lt=OuterRef("order")).exclude(
        state__in=RunStage.ENDED
    )
    following = RunStage.objects.filter(~Exists(earlier), queue="gpu", run__state__in=TrainingRun.LIVE)
    waiting = Q(state=RunStage.State.WAITING)
    abandoned = Q(state=RunStage.State.RUNNING, run__state=TrainingRun.State.QUEUED)  # its worker died
    patient = Q(run__heartbeat_at__lt=timezone.now() - PATIENCE)
    return following.filter(waiting & Q(attempts__gt=0) | patient & (waiting | abandoned)).exists()


def give_way() -> None:
    """Raises Postponed if a round waits for the worker or a device."""
    if round_waits():
        raise Postponed
