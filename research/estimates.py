"""python -m research.estimates: what Monte Carlo estimates of unread solutions add to labels and graded answers.

The labelled solutions are a random draw, the same for every arm of a seed. Every unread solution has estimates.

A rollout from a prefix without an error is right with a chance that belongs to the problem, from a Beta distribution.
From a prefix with an error it is right with the noise's chance of recovery, or HIDDEN if the solution itself is right.
The estimate says whether any of ROLLOUTS is right, as Math-Shepherd's do. The last step has none, because its grade
says the same.

    random             labels alone
    graded             and graded answers
    estimates NOISE    labels and estimates, by their own likelihood
    both NOISE         labels, graded answers and estimates
    steps NOISE        labels, and estimates as if they were step labels (good if a rollout is right)
    both steps NOISE   and graded answers
"""

import argparse
import time
from collections.abc import Sequence

import msgspec
import numpy as np
import torch

from prm.acquisition import FUNCTIONS
from prm.answers.noise import fit_estimate_noise, fit_noise
from prm.config import TrainConfig
from prm.evaluation.metrics import format_metric
from prm.files import read_records, write_records
from prm.labels import BAD, GOOD, first_error, problem_of
from prm.simulation.learning import Features, learn
from prm.simulation.plan import RANDOM, Arm, Curve, Plan
from prm.simulation.replay import measure, read
from prm.simulation.report import Yardstick, compare
from prm.simulation.running import Source
from prm.simulation.words import table
from prm.traces import LabelSource, Trace
from research.small_replays import add_options, plan_of

ROLLOUTS = 8
HIDDEN = 0.5
NOISES = {  # the Beta distribution of right prefixes, and the chance of recovery
    "low": ((8.0, 1.0), 0.02),
    "medium": ((3.0, 1.5), 0.08),
    "high": ((1.0, 2.0), 0.2),
}
MONTE_CARLO = [LabelSource("monte_carlo", f"simulated, {ROLLOUTS} rollouts")]


def estimate(traces: Sequence[Trace], noise: str, seed: int) -> list[Trace]:
    """The traces with simulated estimates as their labels."""
    (a, b), recovers = NOISES[noise]
    rng = np.random.default_rng([seed, list(NOISES).index(noise)])
    easy = {name: rng.beta(a, b) for name in sorted({problem_of(trace) for trace in traces})}
    made = []
    for trace in traces:
        error = first_error(trace)
        assert error is not None
        after = HIDDEN if trace.final_answer_correct else recovers
        chances = [easy[problem_of(trace)] if error < 0 or k < error else after for k in range(len(trace.steps) - 1)]
        right = rng.binomial(ROLLOUTS, chances) > 0
        labels = [*(GOOD if one else BAD for one in right), None]
        made.append(msgspec.structs.replace(trace, labels=labels, first_error=None, sources=MONTE_CARLO))
    return made


def as_step_labels(estimated: Trace) -> Trace:
    """The estimates as ratings up to the first prefix that no rollout completes."""
    labels = estimated.labels or []
    end = labels.index(BAD) + 1 if BAD in labels else len(labels)
    return msgspec.structs.replace(estimated, labels=[*labels[:end], *[None] * (len(labels) - end)])


def replay(arm: Arm, plan: Plan, features: Features, *, weight: float) -> Curve:
    """The curve of an arm: retrain at each budget, and measure."""
    started = time.monotonic()
    pool = features.pool
    name = arm.function
    kind, _, noise = name.rpartition(" ")
    offered = np.random.default_rng([arm.seed, 0]).permutation(len(pool.traces))[: plan.candidates].tolist()
    estimates = {}
    if noise in NOISES:
        made = estimate([pool.traces[place] for place in offered], noise, arm.seed)
        estimates = dict(zip(offered, made, strict=True))
    weights = {
        "graded_weight": 1.0 if name == "graded" or kind.startswith("both") else 0.0,
        "estimate_weight": weight if kind in ("estimates", "both") else 0.0,
    }
    config: TrainConfig = msgspec.structs.replace(plan.config, seed=arm.seed, **weights)
    points = []
    for budget in plan.budgets:
        chosen, left = offered[:budget], offered[budget:]
        readings = [read(pool.traces[place], first_error(pool.traces[place]) or 0, plan.cost) for place in chosen]
        revealed = [reading.trace for reading in readings]
        both = [(trace, estimates[place]) for trace, place in zip(revealed, chosen, strict=True) if place in estimates]
        taught, places = revealed, chosen
        if "steps" in kind:
            taught, places = [*revealed, *(as_step_labels(estimates[place]) for place in left)], offered
        begun = time.monotonic()
        model = learn(
            taught,
            places,
            features,
            config,
            unread=left,
            noise=fit_noise(revealed),
            estimates=estimates if config.estimate_weight else {},
            estimate_noise=fit_estimate_noise(both),
        )
        points.append(measure(model, readings, features.test, time.monotonic() - begun))
    return Curve(arm, points, round(time.monotonic() - started, 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arms", nargs="+", help="beside labels")
    parser.add_argument("--weight", type=float, default=1.0, help="of estimates")
    add_options(parser, seeds=3, budgets=[30, 120], sizes=[1500, 400, 1000], data_seed=2500)
    options = parser.parse_args()
    for name in options.arms:
        FUNCTIONS.add(name, FUNCTIONS.get(RANDOM), module=__name__)
    plan = plan_of(options, *options.arms, offered=5 / 6)
    source = Source(plan, options.out / "cache")
    path = options.out / "arms.jsonl"
    curves = list(read_records(path, Curve)) if path.exists() else []
    torch.set_num_threads(1)
    features = {world: source.features(world) for world in plan.worlds}
    for arm in plan.arms():
        if arm not in {curve.arm for curve in curves}:
            curves.append(replay(arm, plan, features[arm.world], weight=options.weight))
            write_records(path, curves)
            f1 = ", ".join(f"{point.f1:.3f}" for point in curves[-1].points)
            print(f"{arm.world}, {arm.function}, seed {arm.seed}: {f1} ({curves[-1].wall_seconds:.0f} s)", flush=True)
    tests = {name: Yardstick.of(source.world(name).test) for name in plan.worlds}
    base_sha256 = source.base_sha256()
    report = compare(plan, curves, tests, base_sha256=base_sha256)
    for one in report.comparisons:
        print(f"{one.world} | {one.function} | {' | '.join(format_metric(f1) for f1 in one.f1)}")
    print(table(report))
    if "graded" in plan.functions:
        print("\nThe same compared with graded answers, which are called random here:\n")
        others = [curve for curve in curves if curve.arm.function != RANDOM]
        renamed = [
            msgspec.structs.replace(curve, arm=curve.arm._replace(function=RANDOM))
            if curve.arm.function == "graded"
            else curve
            for curve in others
        ]
        print(table(compare(plan, renamed, tests, base_sha256=base_sha256)))


if __name__ == "__main__":
    main()
