"""Whether another generation is expected to pay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec


@dataclass(frozen=True)
class GenerationSeen:
    """One generation as the project knows it; None is not known.

    `f1` in [0, 1] is on the holdout, of the model that serves since the generation was learned from; `holdout_gain`
    is that model's over the one before. `gain` is acquisition minus control on equal label-seconds; `acquired_gain` and
    `control_gain` are what each lane taught beyond the common start in `acquired_seconds` and `control_seconds`.
    `changed` is the share of pool verdicts in which the model differs from the one before.
    """

    generation: int
    labels: int
    seconds: float
    f1: float | None = None
    f1_low: float | None = None
    f1_high: float | None = None
    holdout_gain: float | None = None
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    acquired_gain: float | None = None
    acquired_seconds: float | None = None
    control_gain: float | None = None
    control_seconds: float | None = None
    changed: float | None = None


def advise(seen: Sequence[GenerationSeen]) -> dict[str, Any]:
    """`stop`, `sentence`, and `criteria` with `name`, `verdict`, `figure`, `threshold` and `sentence` each."""
    from prm.acquisition import stopping

    history = [
        stopping.Round(
            acquired_gain=generation.acquired_gain,
            acquired_seconds=generation.acquired_seconds,
            control_gain=generation.control_gain,
            control_seconds=generation.control_seconds,
            verdicts_changed=generation.changed,
            holdout_gain=generation.holdout_gain,
        )
        for generation in seen
    ]
    advice = stopping.advise(history)
    criteria = [msgspec.structs.asdict(criterion) for criterion in advice.criteria]
    return msgspec.structs.asdict(advice) | {"criteria": criteria}
