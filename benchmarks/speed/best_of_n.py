"""Many solutions of one problem: steps scored a second with and without sharing its computation."""

import argparse
from functools import partial
from pathlib import Path

from benchmarks.speed import workload
from benchmarks.speed.models import make_model
from benchmarks.speed.report import Report, Way, in_turns, load, machine
from benchmarks.speed.sides import measure
from prm.config import FEATURES
from prm.traces import write_traces

SAMPLES = (32, 64)
PROBLEMS = (100, 400, 900)  # useful tokens: a word problem, a competition problem, an agent's task with tools


def run(options: argparse.Namespace, folder: Path) -> Report:
    """Measure one problem with 32 and with 64 solutions, and a short, medium and long text."""
    backbone = workload.make_backbone(options.shape, folder, options.device)
    model = make_model(backbone, folder, heads=12, features=FEATURES)
    report = Report(
        title=f"Best-of-N with {options.shape}, 12 heads on all features",
        unit="steps",
        ways=[],
        machine=machine(options.device, options.threads),
        load_before=load(),
    )
    measurements = []
    for samples in SAMPLES:
        for tokens in PROBLEMS:
            traces = workload.pool(1, samples, problem_tokens=tokens, seed=options.seed)
            data = folder / f"{samples}-{tokens}.jsonl"
            write_traces(data, traces)
            steps = sum(len(trace.steps) for trace in traces)
            mean = sum(workload.text_lengths(traces)) / samples - tokens
            alone = f"{samples} x {mean:.0f} tokens, problem {tokens}: each alone"
            for name, share in (
                (alone, "never"),
                (f"{samples} x {mean:.0f} tokens, problem {tokens}: shared", "always"),
            ):
                job = {
                    "task": "score",
                    "device": options.device,
                    "threads": options.threads,
                    "data": str(data),
                    "model": str(model),
                    "options": {"share_prefix": share},
                }
                report.ways.append(Way(name, alone, steps))
                measurements.append(partial(measure, "ours", job, threads=options.threads))
    return in_turns(report, measurements, options.rounds)
