"""python -m benchmarks.serving.offline MODEL SECONDS: the solutions that a model alone scores in a second.

Scores the benchmark's solutions again and again in batches, with one thread of torch and with one for each core.
"""

import json
import sys
import time
from pathlib import Path

import torch

from benchmarks.serving.load import solutions
from prm.scoring import Scorer
from prm.trust import judge

BATCH = 256  # solutions that `prm score` reads ahead


def main() -> None:
    """Print solutions a second by the number of threads, as JSON."""
    scorer = Scorer.load(Path(sys.argv[1]))
    assert scorer.manifest is not None, "a trained model has a manifest"
    traces = solutions(2 * BATCH)
    rates = {}
    for threads in sorted({1, torch.get_num_threads()}):
        torch.set_num_threads(threads)
        scored, seconds, begun = -BATCH, 0.0, 0.0
        while seconds < float(sys.argv[2]):
            if scored == 0:  # after a first batch as warm-up
                begun = time.perf_counter()
            for score in scorer.score(traces[scored % len(traces) :][:BATCH]):
                judge(score, "product", scorer.threshold, scorer.manifest.trust)
            scored += BATCH
            seconds = time.perf_counter() - begun if scored > 0 else 0.0
        rates[threads] = scored / seconds
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
