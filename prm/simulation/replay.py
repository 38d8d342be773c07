"""Replays one arm of a simulation: label, retrain from the base, measure, select, and repeat."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from prm.acquisition import UNKNOWN, CostModel, Pool, rank_pool
from prm.answers.noise import NoiseRates, fit_noise
from prm.config import TrainConfig
from prm.features import rows_of
from prm.labels import BAD, GOOD, first_error, problem_of, step_labels
from prm.simulation.learning import Features, Model, Part, learn
from prm.simulation.plan import Arm, Curve, Plan, Point
from prm.simulation.report import Yardstick, pack_hits
from prm.traces import StepLabel, Trace


@dataclass(frozen=True)
class Offering:
    """A pool's solutions as columns for acquisition, as far as they do not depend on the model.

    `problem`, `domain` and `correct` [solutions] are those of `part`; `chars` [rows] are the lengths of its steps'
    texts.
    """

    part: Part
    problem: NDArray[np.int64]
    domain: NDArray[np.int64]
    correct: NDArray[np.int8]
    chars: NDArray[np.int32]

    @classmethod
    def of(cls, part: Part) -> "Offering":
        """The columns of a part's traces."""
        answers = [trace.final_answer_correct for trace in part.traces]
        texts = [
            len(step.text)
            for trace, encoded in zip(part.traces, part.encoded, strict=True)
            for step in trace.steps[: len(encoded.spans)]
        ]
        return cls(
            part,
            problem=_codes([f"{trace.domain}\0{problem_of(trace)}" for trace in part.traces]),
            domain=_codes([trace.domain for trace in part.traces]),
            correct=np.array([UNKNOWN if one is None else one for one in answers], dtype=np.int8),
            chars=np.array(texts, dtype=np.int32),
        )

    def scored(self, places: Sequence[int], model: Model) -> Pool:
        """The solutions at `places`, in that order, with a model's scores."""
        rows, steps = self.part.rows_at(places)
        return Pool(
            problem=_codes(self.problem[places]),
            domain=_codes(self.domain[places]),
            steps=steps,
            p=model.heads(rows),
            chars=self.chars[rows_of(list(places), self.part.offsets)],
            correct=self.correct[places],
            embedding=model.embeddings(rows, steps),
        )


def _codes(names: ArrayLike) -> NDArray[np.int64]:
    """Consecutive numbers from 0, in the order of the names."""
    return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64)


class Reading(NamedTuple):
    """A labelled solution: `trace` has labels for the first `steps` steps, which were read, and None after them."""

    trace: Trace
    steps: int
    seconds: float


def called_errors(traces: Sequence[Trace], noise: float, seed: int) -> list[int]:
    """The first error that a reader reports in each solution, -1 for none.

    With probability `noise` the verdict is wrong: an error is missed and the solution read to its end, or, without an
    error, a random step is reported. The verdict on a solution does not depend on the function that selected it.
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
    """Reveal the labels of a reader who reports `called` as the first error (-1: none).

    If that is the true one, the trace's own labels are revealed, including soft ones; else good ones before it.
    """
    steps = len(trace.steps) if called < 0 else called + 1
    called_labels: list[StepLabel | None] = [BAD if k == called else GOOD for k in range(steps)]
    known = step_labels(trace) if called == first_error(trace) else called_labels
    labels = [*known[:steps], *[None] * (len(trace.steps) - steps)]
    revealed = msgspec.structs.replace(trace, labels=labels, first_error=called, split="pool", alternatives=[])
    chars = sum(len(step.text) for step in trace.steps[:steps])
    seconds = cost.fixed_seconds + steps * cost.seconds_per_step + chars * cost.seconds_per_char
    return Reading(revealed, steps, seconds)


@dataclass(frozen=True)
class Choice:
    """What a chooser reads: the name of its function, the unlabelled solutions at `left`, and the newest model.

    `noise` is that of the labelled solutions' graded answers.
    """

    function: str
    left: list[int]
    budget: int
    features: Features
    offering: Offering
    model: Model
    noise: NoiseRates
    plan: Plan
    rng: np.random.Generator

    def draw(self, pool: Pool) -> list[int]:
        """Draw from `left` by the function's gains, with the same draw as in production; `pool` has its scores."""
        plan, noise = self.plan, self.noise.overall
        drawn = rank_pool(
            self.function, pool, budget=self.budget, cost=plan.cost, rng=self.rng, caps=plan.caps, noise=noise
        )
        return [self.left[index] for index in drawn.index]


Chooser = Callable[[Choice], list[int]]  # to `budget` of the solutions at `left`


def choose_by_function(choice: Choice) -> list[int]:
    """Choose as the platform does."""
    return choice.draw(choice.offering.scored(choice.left, choice.model))


def replay(arm: Arm, plan: Plan, features: Features, choose: Chooser = choose_by_function) -> Curve:
    """Replay one arm. The result depends only on the arm, the plan and the chooser."""
    started = time.monotonic()
    pool = features.pool
    known = [place for place, trace in enumerate(pool.traces) if first_error(trace) is not None]
    graded = sorted(set(range(len(pool.traces))) - set(known))
    called = dict(zip(known, called_errors([pool.traces[place] for place in known], arm.noise, arm.seed), strict=True))
    offered = np.random.default_rng([arm.seed, 0]).permutation(known)[: plan.candidates].tolist()
    rng = np.random.default_rng([arm.seed, 1])
    config = training_config(plan, arm)
    offering = Offering.of(pool)
    chosen: list[int] = offered[: plan.budgets[0]]
    points: list[Point] = []
    left = offered[plan.budgets[0] :]
    noise = NoiseRates()
    model: Model | None = None
    for budget in plan.budgets:
        if model is not None:
            n = budget - len(chosen)
            chosen = chosen + choose(Choice(arm.function, left, n, features, offering, model, noise, plan, rng))
            taken = set(chosen)
            left = [place for place in offered if place not in taken]
        readings = [read(pool.traces[place], called[place], plan.cost) for place in chosen]
        revealed = [reading.trace for reading in readings]
        noise = fit_noise(revealed)
        begun = time.monotonic()
        model = learn(revealed, chosen, features, config, unread=left + graded, noise=noise)
        points.append(measure(model, readings, features.test, time.monotonic() - begun))
    return Curve(arm, points, round(time.monotonic() - started, 3))


def training_config(plan: Plan, arm: Arm) -> TrainConfig:
    """The configuration of an arm's trainings: the plan's, with the arm's seed and weight of graded answers."""
    config: TrainConfig = msgspec.structs.replace(plan.config, seed=arm.seed, graded_weight=arm.graded)
    return config


def measure(model: Model, readings: Sequence[Reading], test: Part, train_seconds: float) -> Point:
    """The point of a curve: a model from these readings, measured on the test part."""
    p = model.heads(test.rows).mean(axis=1)
    predicted = [model.threshold.first_below(p[begin:end]) for begin, end in pairwise(test.offsets)]
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
