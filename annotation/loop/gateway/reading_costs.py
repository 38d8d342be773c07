"""What reading costs, in the domain's words and in the library's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prm.acquisition import CostModel


@dataclass(frozen=True)
class ReadingCost:
    """Seconds to take up a solution and to decide on it, seconds a step read, and seconds a character of it.

    The defaults are those of careful reading, some 20 characters a second. `stops_at_error` tells whether people
    stop at the first error, or rate every step.
    """

    fixed: float = 8.0
    per_step: float = 1.0
    per_char: float = 0.05
    stops_at_error: bool = True


def fit_reading_cost(
    seconds: Sequence[float], steps: Sequence[int], chars: Sequence[int], *, stops_at_error: bool
) -> ReadingCost:
    """What explains these times best, each of a solution of which so many steps and characters were read."""
    from prm.acquisition import fit_cost

    fitted = fit_cost(seconds, steps, chars)
    return ReadingCost(fitted.fixed_seconds, fitted.seconds_per_step, fitted.seconds_per_char, stops_at_error)


def library_cost(cost: ReadingCost) -> "CostModel":
    """The cost model in the library's words."""
    from prm.acquisition import CostModel

    return CostModel(cost.fixed, cost.per_step, cost.per_char, cost.stops_at_error)
