"""Helpers that commands share: parsing options that name models, traces and numbers, and reporting."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prm.errors import DataError, FormatError
from prm.messages import Message
from prm.processes import use_half_the_cores
from prm.scores import TraceScore
from prm.traces import Trace

if TYPE_CHECKING:
    from prm.formats.mapping import Mapping
    from prm.scoring import Scorer
    from prm.scoring.prefixes import ShareChoice
    from prm.scoring.windows import Long

ZERO_LABEL = "zero:"
HUB_LABEL = "hub:"
SOLUTIONS_HELP = "solutions in any format, or hub:OWNER/NAME for a dataset on the Hugging Face Hub"
MODEL_HELP = "model folder, or zero:BACKBONE for scores without labels"
PROGRESS_SECONDS = 5.0


def load_scorer(model: str, *, long: "Long" = "null", share_prefix: "ShareChoice" = "auto") -> "Scorer":
    """The scorer that `--model` names; `long` and `share_prefix` as in `Scorer.load`."""
    use_half_the_cores()
    from prm.scoring import Scorer

    if model.startswith(ZERO_LABEL):
        return Scorer.for_base(model.removeprefix(ZERO_LABEL), long=long, share_prefix=share_prefix)
    return Scorer.load(Path(model), long=long, share_prefix=share_prefix)


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option that is a whole number, not below `least`."""

    def number(text: str) -> int:
        if not text.removeprefix("-").isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return number


def above_zero(text: str) -> float:
    """The type of an option that is a number above zero."""
    return _number(text, "above zero", lambda value: 0 < value < float("inf"))


def zero_or_more(text: str) -> float:
    """The type of an option that is a number of at least zero."""
    return _number(text, "of at least zero", lambda value: 0 <= value < float("inf"))


def probability(text: str) -> float:
    """The type of an option that is a number from 0 to 1."""
    return _number(text, "from 0 to 1", lambda value: 0 <= value <= 1)


def _number(text: str, words: str, fits: Callable[[float], bool]) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")  # which fits nowhere
    if not fits(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number {words}")
    return value


def input_file(text: str) -> Path:
    """The type of an option that names an input file. Raises DataError if it cannot be read or is empty."""
    path = Path(text)
    if path.is_dir():
        raise DataError(Message("path_is_folder", path=path))
    if not path.exists():
        raise DataError(Message("no_such_path", path=path))
    if not path.is_file():  # it is read more than once
        raise DataError(Message("path_is_pipe", path=path))
    if not os.access(path, os.R_OK):
        raise DataError(Message("file_unreadable", path=path))
    begun = b""  # without white space
    with open(path, "rb") as content:
        while len(begun) < len(b"[].") and (chunk := content.read(65536)):
            begun += b"".join(chunk.split())
    if begun in (b"", b"[]"):
        raise DataError(Message("file_is_empty", path=path))
    return path


def data_file(text: str) -> Path:
    """The type of an option that names labelled solutions: a file, or hub:NAME for a data set of the hub."""
    if text.startswith(HUB_LABEL):
        from prm.formats.hub import fetch_dataset

        return fetch_dataset(text.removeprefix(HUB_LABEL))
    return input_file(text)


def folder(text: str) -> Path:
    """The type of an option that names a folder, which may be new. Raises DataError if it is a file."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise DataError(Message("path_is_file", path=path))
    return path


def add_mapping(parser: argparse.ArgumentParser) -> None:
    """Add the option `--mapping`, for data that are a table."""
    parser.add_argument("--mapping", type=input_file, help="JSON file that names the columns of a table")


def mapping_of(options: argparse.Namespace) -> "Mapping | None":
    """The mapping that `--mapping` names; raises DataError naming file and field."""
    from prm.formats.mapping import parse_mapping

    if options.mapping is None:
        return None
    try:
        return parse_mapping(options.mapping.read_bytes())
    except FormatError as error:
        raise DataError(Message("path_error", path=options.mapping, error=error.message)) from None


def check_output(out: Path | None, *inputs: Path | None) -> None:
    """Raises DataError if a result cannot be written to `out`, or would replace one of the inputs."""
    if out is None:
        return
    if out.is_dir():
        raise DataError(Message("path_is_folder", path=out))
    if any(one is not None and out.exists() and out.samefile(one) for one in inputs):
        raise DataError(Message("output_is_input", path=out))
    folder = next(one for one in out.absolute().parents if one.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise DataError(Message("output_folder_unwritable", path=out, folder=folder))


class Progress:
    """Prints what it is called with on stderr, at most one line every few seconds, and keeps the latest."""

    def __init__(self) -> None:
        self.latest: object = None
        self._said_at = time.monotonic()

    def __call__(self, done: object) -> None:
        self.latest = done
        if time.monotonic() - self._said_at > PROGRESS_SECONDS:
            self._said_at = time.monotonic()
            sys.stderr.write(f"{done}\n")
            sys.stderr.flush()


def score_all(scorer: "Scorer", traces: Sequence[Trace]) -> list[TraceScore]:
    """The scores of the traces, with progress on stderr."""
    return list(scorer.score(traces, on_progress=Progress()))


def say(line: str) -> None:
    """Print one line immediately."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
