"""`train`: from labelled traces to a model folder, with progress as JSON lines."""

import argparse
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from prm.commands.common import say
from prm.config import Progress, TrainConfig, read_config
from prm.cores import use_half_the_cores


def add(commands: Any) -> None:
    parser = commands.add_parser("train", help="train on labelled traces")
    parser.add_argument("--data", type=Path, required=True, help="JSONL of labelled traces")
    parser.add_argument("--out", type=Path, required=True, help="folder for the model; a stopped run resumes there")
    parser.add_argument("--config", type=Path, help="JSON of training choices")
    parser.add_argument("--cache", type=Path, help="folder that keeps token ids and features from run to run")
    parser.add_argument("--cache-gigabytes", type=float, default=8.0, help="what it may hold (8)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    config = read_config(options.config) if options.config else TrainConfig()
    cancelled = _cancel_on_sigterm()
    use_half_the_cores()
    from prm.training import train
    from prm.training.caches import Cache

    cache = Cache(options.cache, int(options.cache_gigabytes * 1e9)) if options.cache else None
    train(data=options.data, out=options.out, config=config, report=_report, cancelled=cancelled, cache=cache)


def _report(progress: Progress) -> None:
    say(msgspec.json.encode(progress).decode())


def _cancel_on_sigterm() -> Callable[[], bool]:
    """SIGTERM and Ctrl-C set a flag that training looks at before every batch."""
    asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, frame: asked.append(received))
    return lambda: bool(asked)
