"""The options that replays on small sandbox worlds share, and their plan."""

import argparse
from pathlib import Path
from typing import Any

from prm.simulation.plan import RANDOM, Plan
from prm.simulation.worlds import WORLDS, Sizes


def add_options(parser: argparse.ArgumentParser, **defaults: Any) -> None:
    """Add the options; `defaults` has those of seeds, budgets, sizes and data_seed."""
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=["sandbox", "rare-errors"])
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--budgets", type=int, nargs="+")
    parser.add_argument("--sizes", type=int, nargs=3, help="pool, calibration, test")
    parser.add_argument("--data-seed", type=int)
    parser.add_argument("--out", type=Path, required=True)
    parser.set_defaults(**defaults)


def plan_of(options: argparse.Namespace, *functions: str, offered: float = 0.9, **others: Any) -> Plan:
    """The plan of these options for random choice and `functions`; a share of the pool is `offered` to them."""
    sizes = Sizes(*options.sizes)
    return Plan(
        worlds=tuple(options.worlds),
        functions=(RANDOM, *functions),
        seeds=tuple(range(options.seeds)),
        budgets=tuple(options.budgets),
        candidates=round(sizes.pool * offered),
        sizes=sizes,
        data_seed=options.data_seed,
        **others,
    )
