"""Trained models to score with. Their weights do not affect their speed."""

from pathlib import Path

from benchmarks.speed import workload
from prm.config import Feature, TrainConfig
from prm.traces import write_traces
from prm.training import train

ENOUGH = 24  # solutions to train on


def make_model(backbone: Path, folder: Path, *, heads: int, features: tuple[Feature, ...]) -> Path:
    """Heads trained for one epoch on a frozen backbone; returns the model's folder."""
    data = folder / "lessons.jsonl"
    write_traces(data, [*workload.solutions(ENOUGH, seed=1), *workload.for_checking(1)])
    config = TrainConfig(base=str(backbone), epochs=1, heads=heads, features=features)
    out = folder / f"model-{heads}-{'-'.join(features)}"
    train(data=data, out=out, config=config, report=lambda progress: None)
    return out
