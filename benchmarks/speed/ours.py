"""Our side of each measurement, in its own process: `python -m benchmarks.speed.ours JOB`, a job as JSON.

train       full fine-tuning by `prm.training.train`; the second of two epochs is timed, validation left out
score       a pool through a trained model's `Scorer`
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import torch

from prm.config import Progress, TrainConfig
from prm.formats.trace_files import read_traces
from prm.scoring import Scorer
from prm.training import train as train_model

Job = dict[str, Any]
Moment = tuple[float, float]


def train(job: Job) -> dict[str, float]:
    """Seconds of the second epoch's batches, and the utilisation if the run measured it."""
    times: list[tuple[Moment, str]] = []

    def report(progress: Progress) -> None:
        if progress.stage == "train":
            times.append((now(job), progress.message))

    config = msgspec.convert(job["config"], TrainConfig)
    with tempfile.TemporaryDirectory() as folder:
        manifest = train_model(data=Path(job["data"]), out=Path(folder), config=config, report=report)
    first, second = (index for index, (_, message) in enumerate(times) if message.startswith("epoch "))
    used = manifest.costs.stages["train"].utilisation if manifest.costs and job["device"] == "cuda" else None
    return between(times[first][0], times[second - 1][0]) | {"utilisation": used or 0.0}


def score(job: Job) -> dict[str, float]:
    """Seconds to score every step of a pool."""
    scorer = Scorer.load(Path(job["model"]), device=job["device"], **job.get("options", {}))
    traces = list(read_traces(Path(job["data"])))
    list(scorer.score(traces[:8]))
    begun = now(job)
    scores = list(scorer.score(traces))
    ended = now(job)
    assert all(value is not None for found in scores for value in found.mean), "a step was left without a score"
    return between(begun, ended)


def now(job: Job) -> Moment:
    """Wall time and processor time, after the device has finished its work."""
    if job["device"] == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter(), time.process_time()


def between(begun: Moment, ended: Moment) -> dict[str, float]:
    """The difference of two times, in the parent's format."""
    return {"seconds": ended[0] - begun[0], "core_seconds": ended[1] - begun[1]}


def memory(job: Job) -> float:
    """Peak memory of the process, or of the device if one is used, in MB."""
    if job["device"] == "cuda":
        return torch.cuda.max_memory_allocated() / 1e6
    with open("/proc/self/status") as status:  # unlike that of getrusage, not inherited from the parent
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM"))


def main() -> None:
    """Run the job of the command line and print what it measured."""
    job: Job = json.loads(sys.argv[1])
    torch.set_num_threads(job["threads"])
    tasks: dict[str, Callable[[Job], dict[str, float]]] = {"train": train, "score": score}
    loaded = memory(job)
    found = tasks[job["task"]](job)
    print(json.dumps(found | {"peak_mb": memory(job), "own_mb": memory(job) - loaded}))


if __name__ == "__main__":
    main()
