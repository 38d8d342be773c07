"""Step scores as they travel between processes: JSONL of TraceScore. No torch."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from prm.errors import DataError


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


_decoder = msgspec.json.Decoder(TraceScore)
_encoder = msgspec.json.Encoder()


def read_scores(path: Path) -> Iterator[TraceScore]:
    """Stream the scores of a JSONL file; raises DataError naming file and line."""
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield _decoder.decode(line)
                except msgspec.DecodeError as error:
                    raise DataError(f"{path}, line {number}: {error}") from error


def write_scores(path: Path, scores: Iterable[TraceScore]) -> int:
    """Write scores as JSONL, atomically replacing `path`; returns how many were written."""
    partial = path.with_name(path.name + ".partial")
    count = 0
    with open(partial, "wb") as out:
        for score in scores:
            out.write(_encoder.encode(score) + b"\n")
            count += 1
    partial.replace(path)
    return count
