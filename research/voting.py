"""python -m research.voting: best-of-N by the highest score, by votes weighted by score, and by majority.

    python -m research.voting [--seed 2830] [--problems 80] [--powers 1 3 6] [--best-of-n FOLDER]

Trains the default model on the sandbox and measures pools of 64 solutions by two policies: the world's own solvers, and
`sandbox-weak`, whose wrong solutions share mistakes. A vote weighs a solution by its score to one of the powers.
`--best-of-n` is a folder of real solutions with published scores. Brackets are 95 % intervals over problems.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from examples.setting import held_out, is_right, policy_server
from prm import scores
from prm.config import TrainConfig
from prm.evaluation.best_of_n import VOTE, BestOfN, best_of_n
from prm.evaluation.metrics import format_metric
from prm.formats.benchmark import read_benchmark, read_published
from prm.sandbox import WorldConfig, generate, generate_pools
from prm.scores import TraceScore
from prm.scoring import Scorer
from prm.search import Endpoint, Prefix
from prm.traces import Trace, write_traces
from prm.training import train

POOL, CALIBRATION, SAMPLES = 1500, 400, 64
DEVELOPMENT = 60  # held-out problems of `sandbox-weak` on which the power was chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=2830)
    parser.add_argument("--problems", type=int, default=80)
    parser.add_argument("--powers", type=float, nargs="+", default=[1, 3, 6])
    parser.add_argument("--best-of-n", type=Path, help="a folder of real solutions with published scores")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scorer = trained(Path(folder), options.seed)
    world = list(
        generate_pools(WorldConfig(), split="holdout", problems=options.problems, samples=SAMPLES, seed=options.seed)
    )
    for name, traces in (("world", world), ("sandbox-weak", sampled(options.problems, options.seed))):
        print_rules(name, traces, list(scorer.score(traces)), options.powers)
    for path in sorted(options.best_of_n.glob("*.jsonl*")) if options.best_of_n else ():
        traces = read_benchmark([path]).traces
        for name, published in read_published(path).items():
            print_rules(f"{path.name}, {name}", traces, published, options.powers)


def trained(folder: Path, seed: int) -> Scorer:
    """The default model."""
    parts = (("pool", POOL), ("calibration", CALIBRATION))
    labelled = [one for split, n in parts for one in generate(WorldConfig(), split=split, n=n, seed=seed)]
    write_traces(folder / "train.jsonl", labelled)
    train(data=folder / "train.jsonl", out=folder / "model", config=TrainConfig(seed=seed))
    return Scorer.load(folder / "model")


def sampled(problems: int, seed: int) -> list[Trace]:
    """Solutions of the weak policy to problems that the choice of the power did not use."""
    asked = held_out(DEVELOPMENT + problems)[DEVELOPMENT:]
    with policy_server() as url:
        answers = Endpoint(url, "sandbox-weak").sample([Prefix(one.problem) for one in asked], n=SAMPLES, seed=seed)
    return [
        Trace(
            f"{place}-{number}",
            problem.problem,
            list(sample.steps),
            problem_id=str(place),
            final_answer_correct=is_right(sample.steps, problem),
        )
        for place, (problem, samples) in enumerate(zip(asked, answers.samples, strict=True))
        for number, sample in enumerate(samples)
    ]


def print_rules(name: str, traces: Sequence[Trace], scored: Sequence[TraceScore], powers: Sequence[float]) -> None:
    """A row for each rule, by N."""
    reports: dict[float, BestOfN] = {}
    for power in powers:
        with patch.object(scores, "VOTE_POWER", power):
            reports[power] = best_of_n(traces, scored)
    points = reports[powers[0]].points
    print(f"\n{name}\n\n| rule | {' | '.join(str(point.n) for point in points)} |\n|---|{'---:|' * len(points)}")
    highest = "product" if "product" in points[0].selected else "outcome"
    rows = {"highest score": [point.selected[highest] for point in points]}
    rows |= {f"vote, power {power:g}": [p.selected[VOTE] for p in report.points] for power, report in reports.items()}
    rows["majority"] = [point.majority for point in points]
    for rule, metrics in rows.items():
        print(f"| {rule} | {' | '.join(map(format_metric, metrics))} |", flush=True)


if __name__ == "__main__":
    main()
