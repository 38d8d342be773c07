"""The result of an arm: one point per budget, as stored."""

import msgspec

from prm.simulation.plan import Arm


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """A model trained on `solutions` labels: the steps and simulated seconds they took to read, and how it measures.

    `f1` is ProcessBench's, averaged over domains; `hits` has a hexadecimal bit for each test solution whose first error
    was found exactly (-1: none). `erroneous` counts the labelled solutions that the reader called wrong,
    `train_seconds` is what the training took.
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
