"""What commands share: finding models, traces and numbers by what was typed, and reporting."""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prm.cores import use_half_the_cores
from prm.errors import DataError
from prm.said import said
from prm.traces import Trace, read_traces

if TYPE_CHECKING:
    from prm.scoring import Scorer
    from prm.scoring.prefixes import ShareChoice
    from prm.scoring.windows import Long

ZERO_LABEL = "zero:"
MODEL_HELP = "model folder, or zero:BACKBONE for scores without labels"


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
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return int(text)

    return number


def above_zero(text: str) -> float:
    """The type of an option that is a number above zero."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above zero")
    return value


def existing_traces(path: Path) -> Iterator[Trace]:
    """The traces of a file; raises DataError where there is none."""
    if not path.is_file():
        raise DataError(said("{path}: no such file", path=path))
    return read_traces(path)


def say(line: str) -> None:
    """One line to the caller, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
