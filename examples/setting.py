"""Shared by the examples: the sandbox policy in its own process, a small verifier, problems, and gains."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prm.evaluation.metrics import draws_of
from prm.sandbox import WorldConfig, generate
from prm.sandbox.solving import final_answer
from prm.scoring import Scorer
from prm.search import LocalVerifier
from prm.traces import Step, Trace, write_traces

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "var" / "examples"
LABELLED = 800
BOOTSTRAP = 4000


@contextmanager
def policy_server() -> Iterator[str]:
    """The address of `python -m prm.sandbox.endpoint`, which runs during the block."""
    command = [sys.executable, "-m", "prm.sandbox.endpoint", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[0]
    finally:
        process.terminate()
        process.wait()


def verifier() -> LocalVerifier:
    """A model trained on 800 labelled solutions of other problems, cached in var/examples."""
    model, data, world = KEPT / "verifier", KEPT / "labelled.jsonl", WorldConfig()
    KEPT.mkdir(parents=True, exist_ok=True)
    calibration = generate(world, split="calibration", n=LABELLED // 5)
    write_traces(data, [*generate(world, split="pool", n=LABELLED), *calibration])
    print(f"Training a verifier on {LABELLED} labelled solutions, unless it is cached...", flush=True)
    command = [sys.executable, "-m", "prm", "train", "--data", str(data), "--out", str(model)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return LocalVerifier(Scorer.load(model))


def held_out(count: int) -> list[Trace]:
    """Problems of groups that the verifier never saw, with their reference answers."""
    problems: dict[str, Trace] = {}
    for trace in generate(WorldConfig(), split="holdout", n=10 * count):
        problems.setdefault(trace.problem, trace)
    return list(problems.values())[:count]


def is_right(steps: Sequence[Step], problem: Trace) -> bool:
    """Whether the world grades a solution's final answer as right."""
    return final_answer(steps) == problem.reference_answer


def shares(name: str, values: Sequence[float]) -> None:
    """Print the mean over problems with its interval."""
    mean, low, high = _resampled(np.array(values, dtype=float))
    print(f"{name:34} {mean:6.1%}   (95 %: {low:.1%} to {high:.1%})")


def gain(name: str, ours: Sequence[float], theirs: Sequence[float]) -> None:
    """Print the difference in points, paired by problem, with its interval."""
    points, low, high = 100 * _resampled(np.array(ours, dtype=float) - np.array(theirs, dtype=float))
    print(f"{name:34} {points:+6.1f} points (95 %: {low:+.1f} to {high:+.1f})")


def _resampled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean and the bounds of its 95 % interval, with whole problems resampled."""
    means = draws_of(len(values), BOOTSTRAP, 0) @ values / len(values)
    return np.array([means[0], *np.quantile(means[1:], [0.025, 0.975])])
