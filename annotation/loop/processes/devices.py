"""Which GPUs a training has to itself: one slot of this machine's, by a lock that a dead worker cannot hold."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings

from annotation.core.locks import advisory_lock

LOOK_SECONDS = 1.0


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
            with advisory_lock(_name(slot)) as mine:
                if mine:
                    yield slot
                    return
        on_wait()
        time.sleep(LOOK_SECONDS)


def _name(slot: str) -> str:
    """The slot on this machine."""
    return f"gpus {slot} of {socket.gethostname()}"
