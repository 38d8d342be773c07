"""python -m research.replay_details: what the report of a simulation leaves out.

    python -m research.replay_details FOLDER...

Reads folders that `prm simulate` wrote for worlds of the sandbox. Prints how many fewer solutions each seed needs by
itself. Then it prints the share of test solutions whose first error, or none, is exactly right at the last budget: of
those with an error, of those without one, and on the mix of the pool.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from prm.files import read_records
from prm.labels import first_error
from prm.simulation.plan import Curve, Plan, arm_name
from prm.simulation.report import Report, Yardstick, compare, is_base, unpack_hits
from prm.simulation.running import ARMS_FILE, Line
from prm.simulation.worlds import sandbox_world


def by_seed(plan: Plan, curves: list[Curve], tests: dict[str, Yardstick]) -> Iterator[str]:
    """A row for each arm but the one that all are compared with."""
    reports = []
    for seed in plan.seeds:
        alone = [curve for curve in curves if curve.arm.seed == seed]
        report = compare(msgspec.structs.replace(plan, seeds=(seed,)), alone, tests, base_sha256="", bootstrap=1)
        reports.append([one for one in report.comparisons if not is_base(one)])
    for same in zip(*reports, strict=True):
        savings = [one.saving["solutions"] for one in same]
        cells = [f"{'at most ' if saving.never else ''}{saving.mean.value:.2f}" for saving in savings]
        yield " | ".join([same[0].world, f"{same[0].noise:g}", arm_name(same[0].function, same[0].graded), *cells])


def on_the_mix(plan: Plan, curves: list[Curve], world: str) -> Iterator[str]:
    """A row for each arm, means of its seeds."""
    drawn = sandbox_world(world, plan.sizes, seed=plan.data_seed)
    wrong = np.array([first_error(trace) != -1 for trace in drawn.test])
    rare = float(np.mean([first_error(trace) != -1 for trace in drawn.pool]))
    own = [curve for curve in curves if curve.arm.world == world]
    for noise, function, graded in dict.fromkeys((c.arm.noise, c.arm.function, c.arm.graded) for c in own):
        hits = np.array(
            [
                unpack_hits(curve.points[-1].hits, len(wrong))
                for curve in own
                if (curve.arm.noise, curve.arm.function, curve.arm.graded) == (noise, function, graded)
            ]
        )
        erroneous, right = hits[:, wrong].mean(), hits[:, ~wrong].mean()
        mixed = rare * erroneous + (1 - rare) * right
        shares = [f"{share:.3f}" for share in (erroneous, right, mixed)]
        yield " | ".join([world, f"{noise:g}", arm_name(function, graded), *shares])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    for folder in parser.parse_args().folders:
        plan = msgspec.json.decode((folder / "report.json").read_bytes(), type=Report).plan
        arms = set(plan.arms())
        curves = [line.curve for line in read_records(folder / ARMS_FILE, Line) if line.curve.arm in arms]
        tests = {name: Yardstick.of(sandbox_world(name, plan.sizes, seed=plan.data_seed).test) for name in plan.worlds}
        print(f"\n| world | noise | function | {' | '.join(f'seed {seed}' for seed in plan.seeds)} |")
        print(f"|---|---|---|{'---|' * len(plan.seeds)}")
        for row in by_seed(plan, curves, tests):
            print(f"| {row} |")
        print("\n| world | noise | function | with an error | without | the pool's mix |\n|---|---|---|---|---|---|")
        for world in plan.worlds:
            for row in on_the_mix(plan, curves, world):
                print(f"| {row} |")


if __name__ == "__main__":
    main()
