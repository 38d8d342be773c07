"""How many cores the library takes."""

import os


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
