"""The plan of a simulation, as stored with its results."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from prm.acquisition import FUNCTIONS, Caps, CostModel
from prm.config import TrainConfig
from prm.errors import DataError
from prm.messages import Message
from prm.simulation.worlds import WORLDS, Sizes

RANDOM = "random"
BUDGETS = (60, 90, 130, 190, 270, 390, 560, 800)


class Arm(NamedTuple):
    """One replay: an acquisition function in one world, with one share of wrong verdicts and one seed.

    `graded` is the `graded_weight` of its trainings.
    """

    world: str
    noise: float
    function: str
    graded: float
    seed: int


def arm_name(function: str, graded: float) -> str:
    """The name of an arm in tables and legends: its function, and the weight of graded answers if they teach."""
    return f"{function} + graded {graded:g}" if graded else function


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The worlds, functions and settings of a simulation.

    `budgets` are the numbers of labelled solutions at each retraining; the first ones are drawn at random, the same for
    all arms. Each function is crossed with each weight of `graded` answers. `candidates` is the number of the pool's
    solutions per seed. `data_seed` draws the worlds' problems. `config` is the shipped default, so that published
    figures are those of the product.
    """

    worlds: tuple[str, ...]
    functions: tuple[str, ...]
    noises: tuple[float, ...] = (0.0,)
    graded: tuple[float, ...] = (0.0,)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    budgets: tuple[int, ...] = BUDGETS
    candidates: int = 6000
    sizes: Sizes = Sizes()
    data_seed: int = 100
    config: TrainConfig = TrainConfig()
    cost: CostModel = CostModel()
    caps: Caps = Caps()

    def __post_init__(self) -> None:
        for name in self.functions:
            FUNCTIONS.check(name)
        if RANDOM not in self.functions:
            raise DataError(Message("simulation_without_random"))
        if list(self.budgets) != sorted(set(self.budgets)) or len(self.budgets) < 2 or self.budgets[0] < 1:
            raise DataError(Message("budgets_not_rising"))
        if any(not 0 <= noise < 0.5 for noise in self.noises):
            raise DataError(Message("noise_out_of_range"))
        if 0.0 not in self.graded:
            raise DataError(Message("simulation_without_ungraded"))
        if self.candidates < self.budgets[-1]:
            raise DataError(Message("too_few_candidates", n=self.candidates, most=self.budgets[-1]))

    def arms(self) -> Iterator[Arm]:
        """The arms in order of seed, so that an interrupted simulation is still paired."""
        for seed in self.seeds:
            for world in self.worlds:
                for noise in self.noises:
                    for function in self.functions:
                        for graded in self.graded:
                            yield Arm(world, noise, function, graded, seed)


SHIPPED = tuple(sorted({0.0, TrainConfig().graded_weight}))
TABLE = Plan(worlds=("sandbox", "rare-errors"), functions=(RANDOM, "wrong_answers", "contradiction"), graded=SHIPPED)
FULL = Plan(worlds=tuple(WORLDS), functions=tuple(FUNCTIONS), noises=(0.0, 0.1, 0.2), graded=SHIPPED)


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A model trained on `solutions` labels, with the steps and simulated seconds of reading them.

    `f1` is ProcessBench's, averaged over domains; `hits` has a bit, in hexadecimal, for each test solution whose first
    error (-1: none) was predicted exactly. `erroneous` counts the solutions labelled wrong; `train_seconds` is the time
    of training.
    """

    solutions: int
    steps: int
    seconds: float
    f1: float
    hits: str
    erroneous: int
    train_seconds: float


class Curve(msgspec.Struct, frozen=True):
    """The result of one arm, one point per budget."""

    arm: Arm
    points: list[Point]
    wall_seconds: float
