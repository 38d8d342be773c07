"""A process's share of the machine, its end, its parent, and its rank among several.

torchrun and accelerate set the rank in the environment of each process that they start."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def use_half_the_cores() -> None:
    """Limit the calling thread to half of this process's cores, unless OMP_NUM_THREADS is set.

    torch's threads spin while they wait for each other, so all stop if one loses its core to a web or database process
    (measured on two shared cores: one thread trained heads 5 to 15 times faster than two).
    """
    if "OMP_NUM_THREADS" in os.environ:
        return
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    torch.set_num_threads(max(1, cores // 2))


class _Terminated(BaseException):
    """SIGTERM."""


@contextmanager
def cleaning_up() -> Iterator[None]:
    """On SIGTERM, leave the block as Ctrl-C does, which deletes unfinished files, and then end by that signal."""

    def leave(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)  # a second one ends the process at once
        raise _Terminated

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    except _Terminated:
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


PR_SET_PDEATHSIG = 1


def die_with_parent(number: int) -> bool:
    """Receive signal `number` when the parent process ends; returns False if it has already ended."""
    if sys.platform != "linux":
        return True
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    return os.getppid() == parent  # else it ended before the call


def is_launched() -> bool:
    """Whether torchrun or accelerate started this process."""
    return "WORLD_SIZE" in os.environ


def world_size() -> int:
    """The number of processes of this run on all machines."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """This process's number among those on its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))
