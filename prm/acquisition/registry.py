"""The acquisition functions that exist, by name, and how one is added."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from prm.acquisition.candidates import Array, Stack
from prm.messages import Message
from prm.registry import Registry

Gain = TypeVar("Gain", bound=Callable[..., Array])


@dataclass(frozen=True)
class Acquisition:
    """An acquisition function and how it is used.

    `gain` takes `p` [..., steps, heads], and with `needs_outcome` whether the final answer is `correct` [...]; it gives
    [...]. `looks_for` says on pages what it looks for. A gain `per_cost` is divided by the expected seconds of reading.
    A `first_error` gain asks what a reader says who stops at the first error; where every step is rated, the platform
    uses `joint_bald` instead. A `balanced` function is drawn so that errors are common among the drawn even where they
    are rare in the pool.
    """

    gain: Callable[..., Array]
    looks_for: str
    per_cost: bool = False
    needs_outcome: bool = False
    first_error: bool = False
    balanced: bool = False

    def __call__(self, stack: Stack) -> Array:
        return self.gain(stack.p, stack.correct) if self.needs_outcome else self.gain(stack.p)


FUNCTIONS = Registry[Acquisition](
    "stepmark.acquisition",
    Message("kind_acquisition_function"),
    built_in=("prm.acquisition.functions",),
)


def acquisition(
    name: str,
    *,
    looks_for: str = "",
    per_cost: bool = False,
    needs_outcome: bool = False,
    first_error: bool = False,
    balanced: bool = False,
) -> Callable[[Gain], Gain]:
    """Register the decorated function under a name; the arguments are fields of `Acquisition`."""

    def decorate(gain: Gain) -> Gain:
        entry = Acquisition(gain, looks_for or name, per_cost, needs_outcome, first_error, balanced)
        FUNCTIONS.add(name, entry, module=gain.__module__)
        return gain

    return decorate
