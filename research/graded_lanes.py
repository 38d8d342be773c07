"""python -m research.graded_lanes: what graded answers teach where the backbone learns too.

    python -m research.graded_lanes [--seeds 2700] [--worlds sandbox rare-errors] [--epochs 8] [--base tiny]

Trains on labelled solutions of sandbox problems, with and without the graded answers of unread ones, and measures both
on fresh problems. The lanes are the default, heads on the frozen backbone, and low-rank adapters in it (LoRA), for
fewer epochs. The gain is paired by problem.
"""

import argparse
import tempfile
from pathlib import Path

import msgspec

from prm.config import TrainConfig
from prm.evaluation import compare, evaluate
from prm.evaluation.metrics import format_metric
from prm.labels import without_labels
from prm.sandbox import generate
from prm.scoring import Scorer
from prm.simulation.worlds import WORLDS
from prm.traces import write_traces
from prm.training import train

POOL, LABELLED, CALIBRATION, TEST = 900, 150, 150, 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[2700])
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=["sandbox", "rare-errors"])
    parser.add_argument("--epochs", type=int, default=8, help="epochs of the adapters")
    parser.add_argument("--base", default="tiny", help="a backbone, or its folder")
    options = parser.parse_args()
    print("| world | seed | lane | AUROC without grades | with | F1 without | with | gain in F1 |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    for world in options.worlds:
        for seed in options.seeds:
            heads = TrainConfig(base=options.base, seed=seed)
            adapters = msgspec.structs.replace(heads, lane="lora", epochs=options.epochs)
            for lane, config in (("heads", heads), ("LoRA", adapters)):
                print(f"| {world} | {seed} | {lane} | {measure(world, seed, config)} |", flush=True)


def measure(world: str, seed: int, config: TrainConfig) -> str:
    """The cells of one lane."""
    problems = WORLDS[world].config
    pool = list(generate(problems, split="pool", n=POOL, seed=seed))
    graded = [msgspec.structs.replace(without_labels(one, one.steps), alternatives=[]) for one in pool[LABELLED:]]
    held = list(generate(problems, split="calibration", n=CALIBRATION, seed=seed))
    test = list(generate(problems, split="holdout", n=TEST, seed=seed))
    scored, reports = [], []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "train.jsonl"
        write_traces(data, [*pool[:LABELLED], *graded, *held])
        for weight in (0.0, 1.0):
            out = Path(folder) / f"graded-{weight:g}"
            train(data=data, out=out, config=msgspec.structs.replace(config, graded_weight=weight))
            scorer = Scorer.load(out)
            scored.append((scorer.threshold, list(scorer.score(test))))
            reports.append(evaluate(test, scored[-1][1], threshold=scorer.threshold))
    (before, without), (after, taught) = scored
    gain = compare(test, taught, without, thresholds=(after, before))
    metrics = [
        *(report.overall.step_auroc for report in reports),
        *(report.overall.processbench_f1 for report in reports),
    ]
    return f"{' | '.join(map(format_metric, metrics))} | {gain.gain:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"


if __name__ == "__main__":
    main()
