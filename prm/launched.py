"""What torchrun and accelerate tell each process that they start: they speak through the environment."""

import os


def is_launched() -> bool:
    """Whether one of them started this process."""
    return "WORLD_SIZE" in os.environ


def world_size() -> int:
    """How many processes there are of this kind, on all machines."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """This process's number among those on its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))
