"""Which GPUs this machine offers to training, without loading a library for it."""

import subprocess
from collections.abc import Mapping

NAMES = "CUDA_VISIBLE_DEVICES"
SLOTS = "TRAINING_DEVICES"
EACH = "GPUS_PER_TRAINING"
ASK_SECONDS = 20


def training_slots(environment: Mapping[str, str]) -> list[str]:
    """Devices for each training that may run at once: "0", or "0,1" where a training gets two; none without a GPU.

    TRAINING_DEVICES says them outright ("0;1" or "0,1;2,3"); else the visible ones are dealt, GPUS_PER_TRAINING each.
    """
    if given := environment.get(SLOTS, ""):
        return [slot.strip() for slot in given.split(";") if slot.strip()]
    each = max(1, int(environment.get(EACH) or 1))
    devices = _visible(environment)
    return [",".join(devices[i : i + each]) for i in range(0, len(devices) - each + 1, each)]


def _visible(environment: Mapping[str, str]) -> list[str]:
    """What CUDA_VISIBLE_DEVICES names, else all that the driver lists."""
    if (named := environment.get(NAMES)) is not None:
        return [name.strip() for name in named.split(",") if name.strip() not in ("", "-1")]
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return listed.stdout.split()
