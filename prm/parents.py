"""A process that ends with the one that started it, however that one ends (Linux)."""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(number: int) -> bool:
    """Get signal `number` when the starting process ends; False where it has ended already."""
    if sys.platform != "linux":
        return True
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    return os.getppid() == parent  # else it ended before the kernel knew
