"""A process of the library on its machine: how many cores it takes, what it ends with, which of several it is.

torchrun and accelerate speak through the environment to each process that they start."""

import ctypes
import os
import sys


def use_half_the_cores() -> None:
    """Limit the calling thread to half of this process's cores, unless OMP_NUM_THREADS is set.

    torch's threads wait for each other spinning: where one loses its core to a web or database
    process, all stand still (measured on two shared cores: one thread trained heads 5 to 15 times
    faster than two).
    """
    if "OMP_NUM_THREADS" in os.environ:
        return
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    torch.set_num_threads(max(1, cores // 2))


PR_SET_PDEATHSIG = 1


def die_with_parent(number: int) -> bool:
    """Get signal `number` when the starting process ends; False where it has ended already."""
    if sys.platform != "linux":
        return True
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    return os.getppid() == parent  # else it ended before the kernel knew


def is_launched() -> bool:
    """Whether one of them started this process."""
    return "WORLD_SIZE" in os.environ


def world_size() -> int:
    """How many processes there are of this kind, on all machines."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """This process's number among those on its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))
