"""`simulate`: replays active learning on solutions whose labels are known."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from prm.commands.common import at_least, folder, input_file, say, zero_or_more
from prm.config import read_config
from prm.errors import DataError
from prm.files import locked_folder, write_json
from prm.messages import Message

if TYPE_CHECKING:
    from prm.simulation.plan import Curve, Plan


def add(commands: Any) -> None:
    parser = commands.add_parser("simulate", help="replay active learning and compare it with a random draw")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for the results; a stopped simulation resumes there"
    )
    parser.add_argument("--size", choices=("table", "full"), default="table", help="the grid to start from")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--world", action="append", help="a sandbox world; repeat the option for several")
    where.add_argument("--data", type=input_file, help="labelled solutions in any format, instead of a sandbox world")
    parser.add_argument("--functions", type=_names, help="acquisition functions, separated by commas, including random")
    parser.add_argument("--noise", type=_shares, help="shares of wrong verdicts, separated by commas: 0,0.1,0.2")
    parser.add_argument("--graded", type=_shares, help="weights of graded answers, separated by commas, including 0")
    parser.add_argument("--seeds", type=_seeds, help="number of paired seeds, or FIRST-LAST")
    parser.add_argument("--budgets", type=_counts, help="solutions labelled at each retraining, separated by commas")
    parser.add_argument("--candidates", type=at_least(1), help="candidate solutions per seed")
    parser.add_argument("--sizes", type=_counts, help="solutions of a sandbox world: POOL,CALIBRATION,TEST")
    parser.add_argument("--data-seed", type=at_least(0), help="seed of the worlds' problems")
    parser.add_argument("--base", help="the frozen backbone")
    parser.add_argument("--config", type=input_file, help="TrainConfig as JSON")
    parser.add_argument("--processes", type=at_least(1), default=2, help="arms that run at the same time")
    parser.add_argument("--cache", type=folder, help="cache folder for features (default OUT/cache)")
    parser.add_argument("--bootstrap", type=at_least(0), default=1000, help="bootstrap resamples for the intervals")
    parser.add_argument("--report-only", action="store_true", help="report only on finished arms")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    with locked_folder(options.out):
        _simulate(options)


def _simulate(options: argparse.Namespace) -> None:
    from prm.simulation.pictures import draw_curves
    from prm.simulation.report import Yardstick, compare
    from prm.simulation.running import Source, finished_arms, run_arms
    from prm.simulation.words import overview, table

    plan = _plan(options)
    source = Source(plan, options.cache or options.out / "cache", options.data)
    if options.data and any(plan.graded) and not source.world(plan.worlds[0]).teaches_by_grade:
        say("the pool lacks right or wrong final answers: graded answers are left out")
        plan = msgspec.structs.replace(plan, graded=(0.0,))
        source = replace(source, plan=plan)
    base = source.base_sha256()
    keys, tests = {}, {}
    for name in plan.worlds:
        if not options.report_only:
            say(f"{name}: reading its solutions")
            source.features(name)
        keys[name] = source.key(name, base)
        tests[name] = Yardstick.of(source.world(name).test)
    if options.report_only:
        curves = finished_arms(source, keys, options.out)
    else:
        curves = run_arms(source, keys, options.out, processes=options.processes, on_arm=_report_arm)
    report = compare(plan, curves, tests, base_sha256=base, bootstrap=options.bootstrap)
    write_json(options.out / "report.json", report)
    draw_curves(report, options.out / "curves.svg")
    if len(plan.worlds) > 1:
        say(overview(report) + "\n")
    say(table(report))


def _plan(options: argparse.Namespace) -> "Plan":
    from prm.simulation.plan import FULL, TABLE
    from prm.simulation.worlds import Sizes

    plan = TABLE if options.size == "table" else FULL
    if options.sizes is not None and len(options.sizes) != 3:
        raise DataError(Message("sizes_not_three_numbers"))
    config = read_config(options.config) if options.config else plan.config
    if options.base:
        config = msgspec.structs.replace(config, base=options.base)
    chosen = {
        "worlds": (options.data.stem,) if options.data else tuple(options.world) if options.world else None,
        "functions": options.functions,
        "noises": options.noise,
        "graded": options.graded,
        "seeds": options.seeds,
        "budgets": options.budgets,
        "candidates": options.candidates,
        "sizes": Sizes(*options.sizes) if options.sizes else None,
        "data_seed": options.data_seed,
        "config": config,
    }
    return msgspec.structs.replace(plan, **{name: value for name, value in chosen.items() if value is not None})


def _report_arm(curve: "Curve", done: int, of: int) -> None:
    from prm.simulation.plan import arm_name

    arm, last = curve.arm, curve.points[-1]
    say(
        f"{done} of {of}: {arm.world}, noise {arm.noise:g}, {arm_name(arm.function, arm.graded)}, seed {arm.seed}: "
        f"F1 {last.f1:.3f} at {last.solutions} solutions, {last.steps} steps ({curve.wall_seconds:.0f} s)"
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _counts(text: str) -> tuple[int, ...]:
    return tuple(at_least(1)(part.strip()) for part in text.split(","))


def _shares(text: str) -> tuple[float, ...]:
    return tuple(zero_or_more(part.strip()) for part in text.split(","))


def _seeds(text: str) -> tuple[int, ...]:
    first, dash, last = text.partition("-")
    return (
        tuple(range(at_least(0)(first), at_least(int(first))(last) + 1)) if dash else tuple(range(at_least(1)(first)))
    )
