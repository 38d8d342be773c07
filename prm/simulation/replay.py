"""One arm of a simulation: label, retrain from the base, measure, choose, and again."""

import time
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.acquisition import rank_pool
from prm.labels import first_error
from prm.simulation.learning import Features, Model, Part, learn
from prm.simulation.measures import Yardstick, pack_hits
from prm.simulation.offering import Offering
from prm.simulation.plan import Arm, Plan
from prm.simulation.points import Curve, Point
from prm.simulation.reading import Reading, called_errors, read


def replay(arm: Arm, plan: Plan, features: Features) -> Curve:
    """Replay one arm. The same arm of the same plan gives the same points, whatever ran before it."""
    started = time.monotonic()
    pool = features.pool
    called = called_errors(pool.traces, arm.noise, arm.seed)
    offered = np.random.default_rng([arm.seed, 0]).permutation(len(pool.traces))[: plan.candidates].tolist()
    rng = np.random.default_rng([arm.seed, 1])
    config = msgspec.structs.replace(plan.config, seed=arm.seed)
    offering = Offering.of(pool)
    chosen: list[int] = offered[: plan.budgets[0]]
    points: list[Point] = []
    model: Model | None = None
    for budget in plan.budgets:
        if model is not None:
            taken = set(chosen)
            left = [place for place in offered if place not in taken]
            chosen = chosen + _choose(arm.function, left, budget - len(chosen), offering, model, plan, rng)
        readings = [read(pool.traces[place], called[place], plan.cost) for place in chosen]
        begun = time.monotonic()
        model = learn([reading.trace for reading in readings], chosen, features, config)
        points.append(_measure(model, readings, features.test, time.monotonic() - begun))
    return Curve(arm, points, round(time.monotonic() - started, 3))


def first_errors_found(p: NDArray[np.float64], offsets: Sequence[int], threshold: float) -> list[int]:
    """Each solution's first step whose p(good) lies below the threshold, -1 where none does."""
    positions = []
    for begin, end in pairwise(offsets):
        below = np.flatnonzero(p[begin:end] < threshold)
        positions.append(int(below[0]) if len(below) else -1)
    return positions


def _choose(
    function: str, left: list[int], budget: int, offering: Offering, model: Model, plan: Plan, rng: np.random.Generator
) -> list[int]:
    """By production's own draw, from what the model says of solutions that nobody has read."""
    drawn = rank_pool(function, offering.scored(left, model), budget=budget, cost=plan.cost, rng=rng, caps=plan.caps)
    return [left[index] for index in drawn.index]


def _measure(model: Model, readings: Sequence[Reading], test: Part, train_seconds: float) -> Point:
    p = model.heads(test.rows).mean(axis=1)
    predicted = first_errors_found(p, test.offsets, model.threshold)
    errors = [first_error(trace) for trace in test.traces]
    hits = np.array([a == b for a, b in zip(predicted, errors, strict=True)])
    return Point(
        solutions=len(readings),
        steps=sum(reading.steps for reading in readings),
        seconds=round(sum(reading.seconds for reading in readings), 1),
        f1=float(Yardstick.of(test.traces).f1(hits[None], np.ones((1, len(hits))))[0, 0]),
        hits=pack_hits(hits),
        erroneous=sum(reading.trace.first_error != -1 for reading in readings),
        train_seconds=round(train_seconds, 3),
    )
