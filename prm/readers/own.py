"""This library's own files: traces, and scores of them."""

from collections.abc import Iterator

from prm.scores import TraceScore
from prm.traces import Trace

NAME = "traces"
JUDGED = "steps"
MARKS = frozenset({"id", "problem", "steps"})
Record = Trace

SCORE_MARKS = frozenset({"id", "mean", "heads"})


def traces_of(record: Trace) -> Iterator[Trace]:
    """The trace itself."""
    yield record


def scores_of(record: TraceScore) -> Iterator[tuple[str, TraceScore]]:
    """The score itself, of a model that the file does not name."""
    yield "", record
