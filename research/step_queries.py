"""python -m research.step_queries: whether asking for part of a solution saves time, at assumed prices of reading.

The platform asks for whole solutions. Here a question may begin at the first step where the newest model doubts that
all steps so far are right. Readers trust the steps before. These stay unlabelled, and an error among them is missed,
because what follows from it looks right. No reading times of people are available. So each column assumes prices: FIXED
is the time for a solution besides its steps, PASSED that for a trusted step, both in times of checking one step.
"""

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from prm.answers.noise import NoiseRates, fit_noise
from prm.evaluation.metrics import format_metric
from prm.files import read_json, write_json
from prm.labels import BAD, GOOD, first_error
from prm.simulation.learning import Features, Model, learn
from prm.simulation.plan import RANDOM, Arm, Curve, Plan, Point
from prm.simulation.replay import Choice, Offering, Reading, choose_by_function, measure, training_config
from prm.simulation.report import Saving, Yardstick, compare
from prm.simulation.running import Source
from prm.traces import Trace
from research.small_replays import add_options, plan_of

FUNCTION = "contradiction"
SURE = (0.95, 0.8)  # a question passes over steps that are all right with this probability
FIXED, PASSED = (0.0, 2.0, 5.0, 10.0), (0.0, 0.5)
HEAD = ("world", "graded", "asked from", "steps checked", "passed over", "errors missed", "F1 at the end")


class Question(NamedTuple):
    """What a reader was asked: the solution from step `begin` on, and the steps that were checked until the verdict."""

    reading: Reading
    begin: int
    missed: bool

    @property
    def checked(self) -> int:
        return self.reading.steps - self.begin


class Answered(msgspec.Struct):
    """An arm's curve, and for each of its budgets the steps checked and passed over, and the errors missed."""

    curve: Curve
    checked: list[int]
    passed: list[int]
    missed: list[int]

    @property
    def counts(self) -> tuple[list[int], list[int], list[int]]:
        return self.checked, self.passed, self.missed

    def at(self, fixed: float, passed: float, name: str) -> Curve:
        """The curve as an arm of this name without graded answers, with seconds in units of a checked step."""
        points = [
            msgspec.structs.replace(point, steps=check, seconds=fixed * point.solutions + check + passed * over)
            for point, check, over in zip(self.curve.points, self.checked, self.passed, strict=True)
        ]
        return Curve(self.curve.arm._replace(function=name, graded=0.0), points, 0.0)


def ask(trace: Trace, begin: int) -> Question:
    """The labels of a right reader from step `begin` on."""
    error, steps = first_error(trace), len(trace.steps)
    assert error is not None
    missed = 0 <= error < begin
    called = -1 if missed else error
    end = steps if called < 0 else called + 1
    labels = [*[None] * begin, *[BAD if k == called else GOOD for k in range(begin, end)], *[None] * (steps - end)]
    revealed = msgspec.structs.replace(trace, labels=labels, first_error=called, split="pool", alternatives=[])
    return Question(Reading(revealed, end, 0.0), begin, missed)


def begins(model: Model, offering: Offering, places: Sequence[int], sure: float) -> list[int]:
    """The first step of each solution where the model doubts the steps so far; the last one if it doubts none."""
    rows, steps = offering.part.rows_at(places)
    right = model.heads(rows).mean(axis=1)
    parts = np.split(right, np.cumsum(steps)[:-1])
    return [min(int((np.cumprod(part) >= sure).sum()), len(part) - 1) for part in parts]


def replay(arm: Arm, plan: Plan, features: Features, sure: float | None) -> Answered:
    """Replay one arm; whole solutions if `sure` is None."""
    pool = features.pool
    offered = np.random.default_rng([arm.seed, 0]).permutation(len(pool.traces))[: plan.candidates].tolist()
    rng, config, offering = np.random.default_rng([arm.seed, 1]), training_config(plan, arm), Offering.of(pool)
    asked: dict[int, Question] = {}
    left, model, noise = offered, None, NoiseRates()
    points: list[Point] = []
    counts: list[tuple[int, int, int]] = []
    for budget in plan.budgets:
        n = budget - len(asked)
        if model is None:
            places = left[:n]
            starts = [0] * n
        else:
            places = choose_by_function(Choice(FUNCTION, left, n, features, offering, model, noise, plan, rng))
            starts = [0] * n if sure is None else begins(model, offering, places, sure)
        asked |= {place: ask(pool.traces[place], start) for place, start in zip(places, starts, strict=True)}
        left = [place for place in left if place not in asked]
        questions = list(asked.values())
        readings = [question.reading for question in questions]
        revealed = [reading.trace for reading in readings]
        noise = fit_noise(revealed)
        model = learn(revealed, list(asked), features, config, unread=left, noise=noise)
        points.append(measure(model, readings, features.test, 0.0))
        counts.append(
            (sum(q.checked for q in questions), sum(q.begin for q in questions), sum(q.missed for q in questions))
        )
    checked, passed, missed = map(list, zip(*counts, strict=True))
    return Answered(Curve(arm, points, 0.0), checked, passed, missed)


def answered(source: Source, key: str, arm: Arm, sure: float | None, folder: Path) -> Answered:
    """One arm's replay, or what the folder has of it under its world's `Source.key`."""
    file = folder / f"{key}-{arm.world}-{arm.graded:g}-{sure}-{arm.seed}.json"
    if file.exists():
        return read_json(file, Answered)
    one = replay(arm, source.plan, source.features(arm.world), sure)
    write_json(file, one)
    print(f"{file.stem}: {', '.join(f'{point.f1:.3f}' for point in one.curve.points)}", flush=True)
    return one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graded", type=float, nargs="+", default=[0.0, 1.0], help="weights of graded answers")
    add_options(parser, seeds=3, budgets=[20, 40, 80, 160], sizes=[2000, 300, 600], data_seed=2880)
    options = parser.parse_args()
    plan = plan_of(options)
    source = Source(plan, options.out / "cache")
    base = source.base_sha256()
    arms = {}
    for world in plan.worlds:
        key = source.key(world, base)
        for graded, seed, sure in product(options.graded, plan.seeds, (None, *SURE)):
            arm = Arm(world, 0.0, FUNCTION, graded, seed)
            arms[world, graded, seed, sure] = answered(source, key, arm, sure, options.out)
    tests = {world: Yardstick.of(source.world(world).test) for world in plan.worlds}
    prices = list(product(FIXED, PASSED))
    print(f"\n| {' | '.join([*HEAD, *(f'fixed {fixed:g}, passed {passed:g}' for fixed, passed in prices)])} |")
    print(f"|{'---|' * (len(HEAD) + len(prices))}")
    for world, graded, sure in product(plan.worlds, options.graded, (None, *SURE)):
        own, whole = ([arms[world, graded, seed, one] for seed in plan.seeds] for one in (sure, None))
        compared = [
            compare(
                msgspec.structs.replace(plan, worlds=(world,), functions=(RANDOM, FUNCTION)),
                [one.at(*price, RANDOM) for one in whole] + [one.at(*price, FUNCTION) for one in own],
                tests,
                base_sha256=base,
            ).comparisons[-1]
            for price in prices
        ]
        row = [world, f"{graded:g}", "the first step" if sure is None else f"doubt, if {sure:.0%} sure"]
        row += [
            f"{np.mean([counts[-1] for counts in every]):.0f}"
            for every in zip(*(one.counts for one in own), strict=True)
        ]
        row.append(format_metric(compared[0].f1[-1]))
        row += ["" if sure is None else _times(one.saving["seconds"]) for one in compared]
        print(f"| {' | '.join(row)} |", flush=True)


def _times(saving: Saving) -> str:
    bound = "at most " if saving.never else ""
    return f"{bound}{saving.mean.value:.2f}x [{saving.mean.low:.2f}, {saving.mean.high:.2f}]"


if __name__ == "__main__":
    main()
