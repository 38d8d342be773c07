"""Step scores as they travel between processes: JSONL of TraceScore. No torch."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from prm.jsonl import read_records, write_records


class TraceScore(msgspec.Struct):
    """Scores of one solution, one entry a step; None means not scored (beyond the context).

    `heads[k]` holds p(step k is good | good prefix) of each head, `mean` and `spread` (standard
    deviation) run over heads; `spread` is None throughout for a scorer of one head. `solution` is
    the product of `mean` over the scored steps, None where no step was scored.
    """

    id: str
    heads: list[list[float] | None]
    mean: list[float | None]
    spread: list[float | None]
    solution: float | None


def read_scores(path: Path) -> Iterator[TraceScore]:
    """Stream the scores of a JSONL file; raises DataError naming file, line and field."""
    return read_records(path, TraceScore)


def write_scores(path: Path, scores: Iterable[TraceScore]) -> int:
    """Write scores as JSONL, atomically replacing `path`; returns how many were written."""
    return write_records(path, scores)
