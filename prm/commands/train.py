"""`train`: trains a model folder on labelled traces with one process per device; progress as JSON lines."""

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from prm.commands.common import above_zero, add_mapping, data_file, folder, input_file, mapping_of, say
from prm.config import TrainConfig, read_config
from prm.errors import Cancelled, DataError, PRMError, TrainingError
from prm.messages import Message
from prm.processes import is_launched, use_half_the_cores

REASONS = {kind.exit_code: kind for kind in (DataError, Cancelled)}


def add(commands: Any) -> None:
    parser = commands.add_parser("train", help="train a model on labelled traces")
    parser.add_argument(
        "--data", type=data_file, required=True, help="labelled solutions in any format, or hub:OWNER/NAME"
    )
    add_mapping(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder for the model; a stopped run resumes there")
    parser.add_argument("--config", type=input_file, help="JSON file of training choices (TrainConfig)")
    parser.add_argument("--cache", type=folder, help="cache folder for token ids and features, shared by runs")
    parser.add_argument("--cache-gigabytes", type=above_zero, default=8.0, help="size limit of the cache")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    config = read_config(options.config) if options.config else TrainConfig()
    if is_launched():
        _train_in_team(options, config)
    elif (processes := _processes(config)) > 1:
        _launch(options, processes)
    else:
        _train(options, config)


def _train(options: argparse.Namespace, config: TrainConfig) -> None:
    signals: list[int] = []  # SIGTERM and Ctrl-C, which training checks before every batch
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, frame: signals.append(received))
    use_half_the_cores()
    from prm.training import train
    from prm.training.caches import Cache

    cache = Cache(options.cache, int(options.cache_gigabytes * 1e9)) if options.cache else None
    train(
        data=options.data,
        out=options.out,
        config=config,
        report=lambda progress: say(msgspec.json.encode(progress).decode()),
        cancelled=lambda: bool(signals),
        cache=cache,
        mapping=mapping_of(options),
    )


def _train_in_team(options: argparse.Namespace, config: TrainConfig) -> None:
    """Train as one of several processes, and end this one. Errors go to the launcher, which reports them.

    It ends without the interpreter's teardown: threads of the group of processes may still run then, which aborts a
    training that is done.
    """
    from torch.distributed.elastic.multiprocessing.errors import get_error_handler

    try:
        _train(options, config)
    except PRMError as error:
        get_error_handler().record_exception(error)
        raise
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _processes(config: TrainConfig) -> int:
    """The number of processes to start: one per visible GPU, or as many as the config says."""
    if config.processes != "auto":
        return config.processes
    import torch

    return max(1, torch.cuda.device_count())


def _launch(options: argparse.Namespace, processes: int) -> None:
    """Start the same command in several processes by accelerate; raises the first process's error."""
    from accelerate.commands.launch import launch_command, launch_command_parser
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    same = ["train", "--data", str(options.data), "--out", str(options.out)]
    same += ["--mapping", str(options.mapping)] if options.mapping else []
    same += ["--config", str(options.config)] if options.config else []
    same += ["--cache", str(options.cache), "--cache-gigabytes", str(options.cache_gigabytes)] if options.cache else []
    how = ["--multi_gpu", "--num_processes", str(processes), "--num_machines", "1", "--main_process_port", "0"]
    how += ["--mixed_precision", "no", "--dynamo_backend", "no", "-m", "prm", "--die-with-parent"]
    try:
        launch_command(launch_command_parser().parse_args([*how, *same]))
    except SignalException as stopped:
        raise Cancelled(Message("training_cancelled")) from stopped
    except ChildFailedError as error:
        _rank, failure = error.get_first_failure()
        raise REASONS.get(failure.exitcode, TrainingError)(_reason(failure)) from None


def _reason(failure: Any) -> str:
    message = failure.message["message"] if isinstance(failure.message, dict) else failure.message
    return str(message).partition("Error: ")[2] or str(message)
