"""Measures the tiny PRM by the number of labels on the sandbox world, beside baselines that do not read the text.

    python -m research.prm_label_curve --json var/prm-label-curve.json

Simulated annotators label up to the true first error. Temperature and thresholds, also those of the baselines, are
fitted on the calibration split; all figures are of the holdout split, on which nothing is fitted. The world was tuned
on the holdout of seed 0, and training defaults were chosen on that of seed 1 (`research.prm_choices`), so the figures
use another seed.
"""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
import torch

from prm.calibration import fit_threshold
from prm.config import TrainConfig
from prm.evaluation import Report, evaluate
from prm.evaluation.metrics import format_metric
from prm.files import write_json
from prm.labels import first_error, step_labels
from prm.sandbox import WORLD_VERSION, WorldConfig, generate
from prm.scores import TraceScore
from prm.scoring import Scorer
from prm.threshold import Threshold
from prm.traces import Trace, write_traces
from prm.training import train

SIZES = (100, 300, 1000, 3000)
CALIBRATION, HOLDOUT = 400, 800
HOLDOUT_SEED = 2
Scores = Callable[[Sequence[Trace]], list[TraceScore]]


class Row(msgspec.Struct):
    """One row: labelled solutions (0 for a baseline), seconds to train, and the report."""

    name: str
    labelled: int
    seconds: float | None
    report: Report


def main() -> None:
    """Train and measure at each size, print a Markdown table, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--bootstrap", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    world = WorldConfig()
    pool = list(generate(world, split="pool", n=max(SIZES)))
    calibration = list(generate(world, split="calibration", n=CALIBRATION))
    holdout = list(generate(world, split="holdout", n=HOLDOUT, seed=HOLDOUT_SEED))
    rows: list[Row] = []

    def add(name: str, labelled: int, seconds: float | None, threshold: Threshold, scores: list[TraceScore]) -> None:
        report = evaluate(holdout, scores, threshold=threshold, bootstrap=options.bootstrap)
        rows.append(Row(name, labelled, seconds, report))
        print(_line(rows[-1]), flush=True)

    print("| scorer | labelled | ProcessBench F1 | step AUROC | step AUPRC | ECE | train s |\n" + "|---" * 7 + "|")
    zero = Scorer.for_base("tiny")
    baselines: dict[str, Scores] = {
        "position alone": lambda traces: _by_index(pool, traces),
        "step length alone": lambda traces: [_fixed(t, [1 / (1 + len(s.text)) for s in t.steps]) for t in traces],
        "surprisal, no labels": lambda traces: list(zero.score(traces)),
    }
    for name, scored in baselines.items():
        add(name, 0, None, _threshold(calibration, scored(calibration)), scored(holdout))
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data.jsonl"
            write_traces(data, [*islice(pool, size), *calibration])
            started = time.monotonic()
            manifest = train(data=data, out=Path(folder) / "model", config=TrainConfig(), report=lambda progress: None)
            seconds = round(time.monotonic() - started, 1)
            scorer = Scorer.load(Path(folder) / "model")
            add("trained PRM", size, seconds, manifest.threshold, list(scorer.score(holdout)))
    document = {"world_version": WORLD_VERSION, "config": TrainConfig(), "rows": rows}
    write_json(options.json, document)


def _line(row: Row) -> str:
    whole = row.report.overall
    metrics = (format_metric(m) for m in (whole.processbench_f1, whole.step_auroc, whole.step_auprc, whole.ece))
    seconds = "" if row.seconds is None else f"{row.seconds:.0f}"
    return "| " + " | ".join([row.name, str(row.labelled or "-"), *metrics, seconds]) + " |"


def _by_index(pool: Sequence[Trace], traces: Sequence[Trace]) -> list[TraceScore]:
    """p(good) by a step's position: one minus the error rate there in the pool, smoothed by one step of each label."""
    seen: Counter[int] = Counter()
    bad: Counter[int] = Counter()
    for trace in pool:
        for index, label in enumerate(step_labels(trace)):
            seen[index] += label is not None
            bad[index] += label is not None and label.rating == -1
    return [_fixed(t, [1 - (bad[k] + 1) / (seen[k] + 2) for k in range(len(t.steps))]) for t in traces]


def _fixed(trace: Trace, p: list[float]) -> TraceScore:
    return TraceScore(trace.id, [[value] for value in p], list(p), [None] * len(p), float(np.prod(p)))


def _threshold(traces: Sequence[Trace], scores: Sequence[TraceScore]) -> Threshold:
    return fit_threshold([np.array(s.mean, dtype=float) for s in scores], [_known(trace) for trace in traces])


def _known(trace: Trace) -> int:
    error = first_error(trace)
    assert error is not None, f"the sandbox knows the first error of {trace.id}"
    return error


if __name__ == "__main__":
    main()
