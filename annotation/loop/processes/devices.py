"""Who works on the GPUs of this machine, and who goes first.

A training holds one slot of them, by a lock that a dead worker cannot keep. Rounds come first: every other job of the
`gpu` queue gives way to a round's stage that waits there.
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

LOOK_SECONDS = 1.0
PATIENCE = timedelta(seconds=2)  # another worker of the queue may be free


@contextmanager
def training_slot(on_wait: Callable[[], None]) -> Iterator[str]:
    """Hold a free slot ("0", or "2,3") for the block; "" where the machine has none, and the trainer sees what it sees.

    `on_wait` is called about once a second while all are taken, and may raise.
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
        time.sleep(LOOK_SECONDS)


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
