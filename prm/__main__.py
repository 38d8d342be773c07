"""The library from a shell: train, score, evaluate. JSONL in and out; errors are one line on stderr.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 data refused, 4 cancelled (a training run can be resumed).
"""

import argparse
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from prm.config import Progress, TrainConfig, read_config
from prm.cores import use_half_the_cores
from prm.errors import Cancelled, DataError, PRMError
from prm.traces import Trace, read_traces

if TYPE_CHECKING:
    from prm.scoring import Scorer

FAILED, REFUSED, CANCELLED = 1, 3, 4
ZERO_LABEL = "zero:"
PR_SET_PDEATHSIG = 1


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.die_with_parent:
        _die_with_parent()
    try:
        options.run(options)
    except DataError as error:
        return _fail(error, REFUSED)
    except Cancelled as error:
        return _fail(error, CANCELLED)
    except (PRMError, OSError) as error:
        return _fail(error, FAILED)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m prm", description="Train, run and measure process reward models.")
    parser.add_argument("--die-with-parent", action="store_true", help="stop when the starting process ends (Linux)")
    commands = parser.add_subparsers(required=True, metavar="command")

    train = commands.add_parser("train", help="train on labelled traces")
    train.add_argument("--data", type=Path, required=True, help="JSONL of labelled traces")
    train.add_argument("--out", type=Path, required=True, help="folder for the model; a stopped run resumes there")
    train.add_argument("--config", type=Path, help="JSON of training choices")
    train.set_defaults(run=_train)

    score = commands.add_parser("score", help="score every step of traces")
    score.add_argument("--model", required=True, help="model folder, or zero:BACKBONE for scores without labels")
    score.add_argument("--data", type=Path, required=True, help="JSONL of traces")
    score.add_argument("--out", type=Path, required=True, help="JSONL of scores")
    score.set_defaults(run=_score)

    evaluate = commands.add_parser("evaluate", help="measure a model on labelled traces")
    evaluate.add_argument("--model", required=True, help="model folder, or zero:BACKBONE")
    evaluate.add_argument("--data", type=Path, required=True, help="JSONL of labelled traces")
    evaluate.add_argument("--json", type=Path, required=True, help="where the report goes")
    evaluate.add_argument("--threshold", type=float, help="first-error threshold; default the model's own")
    evaluate.set_defaults(run=_evaluate)
    return parser


def _train(options: argparse.Namespace) -> None:
    config = read_config(options.config) if options.config else TrainConfig()
    cancelled = _cancel_on_sigterm()
    use_half_the_cores()
    from prm.training import train

    train(data=options.data, out=options.out, config=config, report=_say, cancelled=cancelled)


def _score(options: argparse.Namespace) -> None:
    from prm.scores import write_scores

    scorer = _scorer(options.model)
    count = write_scores(options.out, scorer.score(_existing(options.data)))
    sys.stdout.write(f"{count} solutions scored\n")


def _evaluate(options: argparse.Namespace) -> None:
    from prm.cards import report_table
    from prm.evaluation import evaluate

    scorer = _scorer(options.model)
    traces = list(_existing(options.data))
    threshold = scorer.threshold if options.threshold is None else options.threshold
    report = evaluate(traces, list(scorer.score(traces)), threshold=threshold)
    options.json.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2))
    sys.stdout.write(report_table(report) + "\n")


def _scorer(model: str) -> "Scorer":
    use_half_the_cores()
    from prm.scoring import Scorer

    if model.startswith(ZERO_LABEL):
        return Scorer.for_base(model.removeprefix(ZERO_LABEL))
    return Scorer.load(Path(model))


def _existing(path: Path) -> Iterator[Trace]:
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    return read_traces(path)


def _say(progress: Progress) -> None:
    sys.stdout.write(msgspec.json.encode(progress).decode() + "\n")
    sys.stdout.flush()


def _fail(error: Exception, code: int) -> int:
    sys.stderr.write(" ".join(str(error).split()) + "\n")
    return code


def _cancel_on_sigterm() -> Callable[[], bool]:
    """SIGTERM and Ctrl-C set a flag that training looks at before every batch."""
    asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, frame: asked.append(received))
    return lambda: bool(asked)


def _die_with_parent() -> None:
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it ended before the kernel knew
        raise SystemExit(CANCELLED)


if __name__ == "__main__":
    sys.exit(main())
