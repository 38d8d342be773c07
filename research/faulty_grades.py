"""python -m research.faulty_grades: what graded answers teach where they are few, false or misjudged.

    python -m research.faulty_grades [--seeds 5] [--data-seed 2980] [--worlds sandbox rare-errors] --out DIR

Solutions are labelled in random order, with and without the graded answers of the unread ones, as in `prm simulate`. In
each row something is wrong with the grades. All are compared with labels alone, on the same seeds.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import numpy as np

from prm.answers.noise import AnswerNoise, NoiseRates, fit_noise
from prm.evaluation.metrics import format_metric
from prm.simulation.learning import Features, learn
from prm.simulation.plan import RANDOM, Arm, Curve, Plan
from prm.simulation.replay import called_errors, measure, read, training_config
from prm.simulation.report import Yardstick, compare
from prm.simulation.running import Source
from prm.simulation.words import times
from prm.traces import Trace
from research.small_replays import add_options, plan_of


class Grades(msgspec.Struct, frozen=True):
    """The `share` of the pool that has a grade, the share of these that is `false`, and a `domain` that has none.

    `noise` is assumed instead of fitted.
    """

    share: float = 1.0
    false: float = 0.0
    domain: str = ""
    noise: NoiseRates | None = None

    def given(self, traces: list[Trace], seed: int) -> list[Trace]:
        """The solutions with these grades."""
        rng = np.random.default_rng([seed, 2])
        has_grade, is_false = rng.random(len(traces)) < self.share, rng.random(len(traces)) < self.false
        given: list[Trace] = []
        for trace, has, false in zip(traces, has_grade.tolist(), is_false.tolist(), strict=True):
            grade = trace.final_answer_correct
            shown = has and grade is not None and trace.domain != self.domain
            given.append(msgspec.structs.replace(trace, final_answer_correct=grade != false if shown else None))
        return given


def assumed(right_despite_error: float) -> NoiseRates:
    """The same noise for all solutions."""
    return NoiseRates(AnswerNoise(right_despite_error, 0.02))


ROWS = {
    "all grades": Grades(),
    "a third of the grades": Grades(share=1 / 3),
    "a tenth": Grades(share=0.1),
    "a thirtieth": Grades(share=1 / 30),
    "none in one domain": Grades(domain="agents"),
    "5 % of the grades false": Grades(false=0.05),
    "10 % false": Grades(false=0.1),
    "30 % false": Grades(false=0.3),
    "1 % of right answers assumed to hide an error": Grades(noise=assumed(0.01)),
    "50 % assumed": Grades(noise=assumed(0.5)),
}


def replayed(plan: Plan, world: str, features: Features, graded: float, grades: Grades) -> Iterator[Curve]:
    """A curve for each seed, with solutions in random order."""
    for seed in plan.seeds:
        arm = Arm(world, 0.0, RANDOM, graded, seed)
        pool = replace(features.pool, traces=grades.given(features.pool.traces, seed))
        known, config = replace(features, pool=pool), training_config(plan, arm)
        called = called_errors(pool.traces, 0.0, seed)
        order = np.random.default_rng([seed, 0]).permutation(len(called))[: plan.candidates].tolist()
        points = []
        for budget in plan.budgets:
            chosen = order[:budget]
            readings = [read(pool.traces[place], called[place], plan.cost) for place in chosen]
            revealed = [reading.trace for reading in readings]
            noise = grades.noise or fit_noise(revealed)
            model = learn(revealed, chosen, known, config, unread=order[budget:], noise=noise)
            points.append(measure(model, readings, features.test, 0.0))
        yield Curve(arm, points, 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, seeds=5, budgets=[30, 60, 120, 240], sizes=[2000, 300, 600], data_seed=2980)
    options = parser.parse_args()
    plan = plan_of(options, graded=(0.0, 1.0))
    source = Source(plan, options.out / "cache")
    base = source.base_sha256()
    print(f"| world | grades | F1 at {plan.budgets[1]} | F1 at {plan.budgets[-1]} | fewer solutions | seeds better |")
    print("|---|---|---|---|---|---|")
    for world in plan.worlds:
        features = source.features(world)
        tests = {world: Yardstick.of(features.test.traces)}
        alone = list(replayed(plan, world, features, 0.0, Grades()))
        for name, grades in ROWS.items():
            taught = list(replayed(plan, world, features, 1.0, grades))
            labels, own = compare(
                msgspec.structs.replace(plan, worlds=(world,)), [*alone, *taught], tests, base_sha256=base
            ).comparisons
            if grades == Grades():
                print(
                    f"| {world} | labels alone | {format_metric(labels.f1[1])} | {format_metric(labels.f1[-1])} | | |"
                )
            fewer = own.saving["solutions"]
            cells = [world, name, format_metric(own.f1[1]), format_metric(own.f1[-1])]
            cells += [times(fewer.mean, short=fewer.never > 0), f"{own.better} of {len(plan.seeds)}"]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
