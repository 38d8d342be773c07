"""What labelling one solution reveals and costs: the steps up to the first error that the reader calls, and no more."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from prm.acquisition import CostModel
from prm.labels import BAD, GOOD, first_error, step_labels
from prm.traces import Trace


class Reading(NamedTuple):
    """A solution as its reader left it: `trace` has labels for the steps read and None beyond; `steps` were read."""

    trace: Trace
    steps: int
    seconds: float


def called_errors(traces: Sequence[Trace], noise: float, seed: int) -> list[int]:
    """The first error that a reader would call in each solution, -1 for none.

    With probability `noise` the verdict is wrong: an error is missed and the solution read to its end, or, where
    there is none, a step drawn evenly is called one. A solution's reader is the same whoever chose it.
    """
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(traces)) < noise
    places = rng.random(len(traces))
    errors = []
    for trace, mistaken, place in zip(traces, wrong, places, strict=True):
        error = first_error(trace)
        assert error is not None, f"{trace.id} has no known first error"
        if mistaken:
            error = int(place * len(trace.steps)) if error < 0 else -1
        errors.append(error)
    return errors


def read(trace: Trace, called: int, cost: CostModel) -> Reading:
    """Reveal what a reader sees who calls `called` the first error (-1: none).

    Where the call is the true one the trace's own labels are revealed, soft ones too; else good up to the call.
    """
    steps = len(trace.steps) if called < 0 else called + 1
    known = step_labels(trace) if called == first_error(trace) else _plain(steps, called)
    labels = [*known[:steps], *[None] * (len(trace.steps) - steps)]
    revealed = msgspec.structs.replace(
        trace, labels=labels, first_error=called, split="pool", alternatives=[], final_answer_correct=None
    )
    return Reading(revealed, steps, seconds_of(trace, steps, cost))


def seconds_of(trace: Trace, steps: int, cost: CostModel) -> float:
    """Simulated seconds for reading the first `steps` steps."""
    chars = sum(len(step.text) for step in trace.steps[:steps])
    return cost.fixed_seconds + steps * cost.seconds_per_step + chars * cost.seconds_per_char


def _plain(steps: int, called: int) -> list:
    return [BAD if k == called else GOOD for k in range(steps)]
