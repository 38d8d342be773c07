"""Configures glibc to return the memory that a process no longer needs."""

import ctypes

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8
LARGE = 128 * 1024  # bytes: the threshold with which glibc starts
ARENAS = 2


def configure_allocator() -> None:
    """Let the threads of this process share two arenas, and map large blocks apart from them.

    By default, glibc gives the threads up to eight arenas per core, and each keeps the most that a request has needed
    in it. It returns a freed block at once only if the block is larger than a threshold, and raises the threshold to
    the size of the largest such block, up to 32 MB. A threshold that is set does not rise.

    Other C libraries have no mallopt.
    """
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(M_ARENA_MAX, ARENAS)
        mallopt(M_MMAP_THRESHOLD, LARGE)
