"""Compares training and scoring with TRL, and best-of-N with and without sharing; prints tables and ratios.

    python -m benchmarks.speed agreement                 checks the packed path on random input
    python -m benchmarks.speed training --json FILE
    python -m benchmarks.speed scoring --json FILE
    python -m benchmarks.speed best-of-n --json FILE

Each way is measured in its own process, one way after another, in `--rounds` rounds; the tables show medians. The first
run of training or scoring creates an environment for TRL under var/. `--device cuda` uses the larger shapes.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.speed import agreement, best_of_n, scoring, training
from benchmarks.speed.report import Report

PARTS: dict[str, Callable[[argparse.Namespace, Path], Report]] = {
    "agreement": agreement.run,
    "training": training.run,
    "scoring": scoring.run,
    "best-of-n": best_of_n.run,
}


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--shape", choices=["tiny", "small", "0.5b", "1.5b"], default="small")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--solutions", type=int, default=96)
    parser.add_argument("--processbench", type=Path, help="folder of its gsm8k.json and math.json, read for lengths")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where to write all that was measured")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: there is no CUDA device here")
    with tempfile.TemporaryDirectory() as folder:
        report = PARTS[options.part](options, Path(folder))
    print(report.table())
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
