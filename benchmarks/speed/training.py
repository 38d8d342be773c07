"""Full fine-tuning: useful tokens a second and peak memory, beside TRL's PRM trainer on the same solutions."""

import argparse
from functools import partial
from pathlib import Path

from benchmarks.speed import workload
from benchmarks.speed.report import Report, Way, in_turns, load, machine
from benchmarks.speed.sides import measure, prepare_trl
from prm.traces import write_traces

BATCH = 8  # solutions per optimiser step: TRL's default, and ours on average
SEPARATORS = 1  # of our tokens, which end a step


def run(options: argparse.Namespace, folder: Path) -> Report:
    """Measure both sides, ours with one small head and with its defaults.

    TRL batches at random. Sorted, its batches have the least padding, at the price of a fixed order.
    """
    prepare_trl()
    backbone = workload.make_backbone(options.shape, folder, options.device)
    traces = workload.solutions(options.solutions, seed=options.seed, processbench=options.processbench)
    lengths = workload.text_lengths(traces)
    by_length = sorted(zip(lengths, traces, strict=True), key=lambda pair: pair[0])
    rows = workload.write_rows(folder / "rows.jsonl", traces)
    sorted_rows = workload.write_rows(folder / "sorted.jsonl", [trace for _, trace in by_length])
    data = folder / "data.jsonl"
    write_traces(data, [*traces, *workload.for_checking(options.seed)])
    mean = sum(length + SEPARATORS * len(t.steps) for length, t in zip(lengths, traces, strict=True)) / len(traces)
    common = {"task": "train", "device": options.device, "threads": options.threads}
    config = {"base": str(backbone), "lane": "full", "epochs": 2, "patience": 100, "checkpoint_seconds": 1e9}
    config |= {"batch_tokens": round(BATCH * mean)}
    plain = {"features": ["separator"], "heads": 1}
    theirs = common | {"backbone": str(backbone), "batch": BATCH, "checkpointing": False}
    jobs = {
        "TRL": ("trl", theirs | {"rows": str(rows), "sampling": "random"}),
        "TRL, sorted by length": ("trl", theirs | {"rows": str(sorted_rows), "sampling": "sequential"}),
        "ours, one head on the separator": ("ours", common | {"data": str(data), "config": config | plain}),
        "ours, 12 heads on all features": ("ours", common | {"data": str(data), "config": config}),
    }
    report = Report(
        title=f"Full fine-tuning of {options.shape}: {len(traces)} solutions, {min(lengths)} to {max(lengths)} useful "
        f"tokens, {sum(lengths) / len(lengths):.0f} in the mean, {BATCH} solutions a step",
        unit="useful tokens",
        ways=[Way(name, "TRL", sum(lengths)) for name in jobs],
        machine=machine(options.device, options.threads),
        load_before=load(),
    )
    measurements = [partial(measure, side, job, threads=options.threads) for side, job in jobs.values()]
    return in_turns(report, measurements, options.rounds)
