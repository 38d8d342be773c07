"""Lists the GPUs of this machine that training may use, without loading a library."""

import subprocess
from collections.abc import Mapping

from launch.errors import LaunchError

VISIBLE = "CUDA_VISIBLE_DEVICES"
SLOTS = "TRAINING_DEVICES"
PER_TRAINING = "GPUS_PER_TRAINING"
DRIVER_SECONDS = 20


def training_slots(environment: Mapping[str, str]) -> list[str]:
    """The devices of each training that may run at the same time: "0", or "0,1" for two; empty without a GPU.

    TRAINING_DEVICES lists them ("0;1" or "0,1;2,3"). Without it, the visible devices are divided, GPUS_PER_TRAINING to
    each training. Raises LaunchError for a GPUS_PER_TRAINING that is not a positive number.
    """
    if slots := environment.get(SLOTS, ""):
        return [slot.strip() for slot in slots.split(";") if slot.strip()]
    number = environment.get(PER_TRAINING) or "1"
    if not number.isdecimal() or int(number) < 1:
        raise LaunchError(f"{PER_TRAINING} is {number!r}: set it to a whole number of 1 or more.")
    each, devices = int(number), _visible(environment)
    return [",".join(devices[i : i + each]) for i in range(0, len(devices) - each + 1, each)]


def _visible(environment: Mapping[str, str]) -> list[str]:
    """The devices that CUDA_VISIBLE_DEVICES names, else all that the driver lists."""
    if (named := environment.get(VISIBLE)) is not None:
        return [name.strip() for name in named.split(",") if name.strip() not in ("", "-1")]
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=DRIVER_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return listed.stdout.split()
