"""Runs the measurements of `reproduce` and their replay of active learning."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from prm.config import TrainConfig
from prm.errors import DataError
from prm.messages import Message, joined
from prm.reproducing.judging import SIMPLE, HeadsJudge, Judge, simple_judge
from prm.reproducing.measuring import Abstention, Line, measure_abstention, measure_judges
from prm.reproducing.sets import ENOUGH, LabelledSet
from prm.simulation.plan import SHIPPED, Plan
from prm.simulation.report import Report as ReplayReport
from prm.simulation.report import Yardstick, compare
from prm.simulation.running import Source, run_arms
from prm.traces import write_traces
from prm.training.caches import Cache

REPLAYED = "replay.jsonl"
BUDGETS = 5  # points of a replay's curve
FIRST_BUDGET = 40
LAST_SHARE = 0.45  # of the replayed solutions; 0.6 of them are the pool


class SetSize(msgspec.Struct, frozen=True):
    """The size of a set of solutions, and the SHA-256 of its file."""

    sha256: str
    solutions: int
    problems: int
    erroneous: int
    steps: int


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The results of `reproduce`. `bases` maps the backbones' names to their digests."""

    bases: dict[str, str]
    sets: dict[str, SetSize]
    config: TrainConfig
    seeds: int
    bootstrap: int
    lines: list[Line]
    abstentions: list[Abstention]


def measure_sets(
    sets: Sequence[LabelledSet],
    digests: dict[str, str],
    bases: Sequence[str],
    *,
    config: TrainConfig,
    seeds: int,
    bootstrap: int,
    cache: Cache,
    say: Callable[[str], None],
    on_progress: Callable[[str], None],
) -> Report:
    """Learn from each set that has enough of both kinds, and measure on every set. Raises DataError if none has."""
    sources = [labelled for labelled in sets if labelled.teaches]
    if not sources:
        counts = [
            Message(
                "set_of_kinds",
                name=one.name,
                right=one.kinds[0],
                wrong=one.kinds[1],
                groups=Message("n_source_groups", n=len(set(one.groups))),
            )
            for one in sets
        ]
        raise DataError(Message("no_set_to_learn_from", n=ENOUGH, sets=joined(counts, "comma_list")))
    on_base = {base: HeadsJudge(base, config, cache, say, on_progress) for base in bases}
    judges: dict[str, Judge] = SIMPLE | {
        f"surprisal, {base}": simple_judge(heads.likelihood) for base, heads in on_base.items()
    }
    simple = tuple(judges)
    judges |= {f"heads, {base}": heads for base, heads in on_base.items()}
    lines: list[Line] = []
    abstentions: list[Abstention] = []
    for source in sources:
        for target in sets:
            scores = {name: [judge(source, target, seed) for seed in range(seeds)] for name, judge in judges.items()}
            lines += measure_judges(source, target, scores, simple, bootstrap)
            if source is not target:
                for name in judges.keys() - set(simple):
                    abstentions += measure_abstention(
                        source, target, name, scores[name], config.verdict_accuracy, bootstrap
                    )
            say(f"{source.name} to {target.name}: measured")
    return Report(
        bases={base: heads.backbone.sha256 for base, heads in on_base.items()},
        sets={labelled.name: _size(labelled, digests[labelled.name]) for labelled in sets},
        config=config,
        seeds=seeds,
        bootstrap=bootstrap,
        lines=lines,
        abstentions=abstentions,
    )


def _size(labelled: LabelledSet, sha256: str) -> SetSize:
    return SetSize(
        sha256,
        solutions=len(labelled.traces),
        problems=labelled.solutions.n_problems,
        erroneous=int((labelled.errors >= 0).sum()),
        steps=int(labelled.steps.sum()),
    )


def plan_replay(
    sets: Sequence[LabelledSet], *, functions: Sequence[str], config: TrainConfig, seeds: int, cache: Path, out: Path
) -> Source:
    """The plan of a replay on the solutions of all sets together, split by source group.

    Raises DataError if they are too few, or for unusable functions.
    """
    data = out / REPLAYED
    write_traces(data, (trace for labelled in sets for trace in labelled.traces))
    total = sum(len(labelled.traces) for labelled in sets)
    budgets = np.unique(np.geomspace(min(FIRST_BUDGET, total // 5), int(LAST_SHARE * total), BUDGETS).astype(int))
    plan = Plan(
        worlds=(data.stem,),
        functions=tuple(functions),
        graded=SHIPPED,
        seeds=tuple(range(seeds)),
        budgets=tuple(budgets.tolist()),
        candidates=total,
        config=config,
    )
    source = Source(plan, cache, data, device=None)
    source.world(data.stem)  # raises
    return source


def replay_sets(
    source: Source, base: str, *, bootstrap: int, out: Path, processes: int, say: Callable[[str], None]
) -> ReplayReport:
    """Replay active learning by the plan, on the backbone `base`; stored arms are not run."""
    plan = msgspec.structs.replace(source.plan, config=msgspec.structs.replace(source.plan.config, base=base))
    source = replace(source, plan=plan)
    digest, (world,) = source.base_sha256(), plan.worlds
    curves = run_arms(
        source,
        {world: source.key(world, digest)},
        out,
        processes=processes,
        on_arm=lambda curve, done, of: say(f"replay: {done} of {of} arms"),
    )
    yardsticks = {world: Yardstick.of(source.world(world).test)}
    return compare(plan, curves, yardsticks, base_sha256=digest, bootstrap=bootstrap)
