"""What a model loses when it leaves in a layout with one head (research/portable-heads.md).

    python -m research.portable_heads [--seeds 3] [--labelled 300] [--unlabelled 900] [--out DIR]

Each seed draws its own problems of the sandbox: labelled ones to train on, unlabelled ones to distil on as well, and
fresh ones to measure on. Nothing was chosen on these seeds.
"""

import argparse
import shutil
import tempfile
from itertools import product
from pathlib import Path

import numpy as np

from prm import Scorer, Trace, TrainConfig, adopt, evaluate, export_classifier, train, write_traces
from prm.evaluation.metrics import format_metric
from prm.evaluation.report import Report
from prm.labels import without_labels
from prm.portable.classifiers import LAYOUTS
from prm.processes import use_half_the_cores
from prm.sandbox.world import WorldConfig, generate

MEASURED = 300
KINDS = {
    "heads, all features": TrainConfig(),
    "heads, separator": TrainConfig(features=("separator",)),
    "LoRA, separator": TrainConfig(lane="lora", features=("separator",), epochs=8),
}
FIRST_SEED = 300


def report_of(model: Path, traces: list[Trace], seed: int) -> tuple[Report, np.ndarray]:
    """The figures of a model on fresh problems, and its scores."""
    scorer = Scorer.load(model)
    scores = list(scorer.score(traces))
    report = evaluate(traces, scores, threshold=scorer.threshold, bootstrap=1000, seed=seed)
    return report, np.array([p for score in scores for p in score.mean if p is not None])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--labelled", type=int, default=300)
    parser.add_argument("--unlabelled", type=int, default=900)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    use_half_the_cores()
    out = options.out or Path(tempfile.mkdtemp())
    print("| seed | model | layout | AUROC of the first error | position alone | difference | same verdict |")
    print("|---:|---|---|---|---:|---:|---:|")
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    for seed in seeds:
        pool = list(generate(WorldConfig(), split="pool", n=options.labelled + options.unlabelled, seed=seed))
        unlabelled = [without_labels(trace, trace.steps) for trace in pool[options.labelled :]]
        write_traces(out / str(seed) / "labelled.jsonl", pool[: options.labelled])
        write_traces(out / str(seed) / "all.jsonl", [*pool[: options.labelled], *unlabelled])
    for kind, seed in product(KINDS, seeds):
        measure(out / str(seed), kind, seed)


def measure(folder: Path, kind: str, seed: int) -> None:
    """Train a model, export it in both layouts, and print their figures; finished folders are used again."""
    model = folder / kind
    fresh = list(generate(WorldConfig(), split="holdout", n=MEASURED, seed=seed))
    train(data=folder / "labelled.jsonl", out=model, config=KINDS[kind])
    report, scores = report_of(model, fresh, seed)
    show(seed, kind, "ensemble", report, "", "")
    for layout in LAYOUTS:
        left, back = folder / f"{kind} {layout}", folder / f"{kind} {layout} adopted"
        if not back.exists():
            shutil.rmtree(left, ignore_errors=True)
            export_classifier(model, left, layout=layout, data=folder / "all.jsonl")
            adopt(left, back)
        report, distilled = report_of(back, fresh, seed)
        bar = Scorer.load(back).threshold.value
        same = float(((scores < bar) == (distilled < bar)).mean())
        show(seed, kind, layout, report, f"{np.abs(scores - distilled).mean():.3f}", f"{same:.1%}")


def show(seed: int, kind: str, layout: str, report: Report, difference: str, same: str) -> None:
    """Print a row at once, so that an interrupted run leaves what it measured."""
    whole = report.overall
    position = whole.index_auroc.value
    baseline = "-" if position is None else f"{max(position, 1 - position):.3f}"
    auroc = format_metric(whole.step_auroc)
    print(f"| {seed} | {kind} | {layout} | {auroc} | {baseline} | {difference} | {same} |", flush=True)


if __name__ == "__main__":
    main()
