"""Steps scored a second: one packed pass per solution, beside TRL's documented scoring and a padded pass."""

import argparse
from functools import partial
from pathlib import Path

from benchmarks.speed import workload
from benchmarks.speed.models import make_model
from benchmarks.speed.report import Report, Way, in_turns, load, machine
from benchmarks.speed.sides import measure, prepare_trl
from prm.config import FEATURES
from prm.traces import write_traces

BATCH = 16  # solutions of a padded batch
EVERY_PREFIX, PADDED = "TRL's pipeline, every prefix", "padded batches, one pass"


def run(options: argparse.Namespace, folder: Path) -> Report:
    """Measure four ways on the same solutions; ours with one head on the separator, as in TRL, and with defaults."""
    prepare_trl()
    backbone = workload.make_backbone(options.shape, folder, options.device)
    traces = workload.solutions(options.solutions, seed=options.seed, processbench=options.processbench)
    lengths, steps = workload.text_lengths(traces), sum(len(trace.steps) for trace in traces)
    data, rows = folder / "pool.jsonl", workload.write_rows(folder / "rows.jsonl", traces)
    write_traces(data, traces)
    common = {"device": options.device, "threads": options.threads}
    theirs = common | {"backbone": str(backbone), "rows": str(rows), "batch": BATCH}
    ours = common | {"task": "score", "data": str(data)}
    one = make_model(backbone, folder, heads=1, features=("separator",))
    all_features = make_model(backbone, folder, heads=12, features=FEATURES)
    measurements = {
        EVERY_PREFIX: partial(measure, "trl", theirs | {"task": "every_prefix"}, threads=options.threads),
        PADDED: partial(measure, "trl", theirs | {"task": "padded"}, threads=options.threads),
        "ours, one head on the separator": partial(
            measure, "ours", ours | {"model": str(one)}, threads=options.threads
        ),
        "ours, 12 heads on all features": partial(
            measure, "ours", ours | {"model": str(all_features)}, threads=options.threads
        ),
    }
    report = Report(
        title=f"Scoring with {options.shape}: {len(traces)} solutions of {steps / len(traces):.1f} steps, "
        f"{min(lengths)} to {max(lengths)} useful tokens, {sum(lengths) / len(lengths):.0f} in the mean",
        unit="steps",
        ways=[Way(name, EVERY_PREFIX, steps) for name in measurements],
        machine=machine(options.device, options.threads),
        load_before=load(),
    )
    return in_turns(report, list(measurements.values()), options.rounds)
