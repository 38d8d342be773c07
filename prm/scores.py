"""Step scores as they travel between processes, and what is made of them: blocks and solutions. No torch."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args

import msgspec

from prm.errors import DataError
from prm.files import read_records, write_records
from prm.messages import Message

Aggregate = Literal["product", "min", "mean", "last"]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)


class StepScore(msgspec.Struct, omit_defaults=True):
    """Scores of one step; None throughout for a step that is not scored (beyond the context).

    `heads` holds p(the step is good | good prefix) of each head, `mean` and `spread` (standard deviation) run
    over heads; `spread` is None for a scorer of one head. `outcome` is p(the final answer will be right | the
    steps so far), None for a model that did not learn it. `windowed` marks a step that was read in a window.
    """

    heads: list[float] | None
    mean: float | None
    spread: float | None
    outcome: float | None = None
    windowed: bool = False


UNSCORED = StepScore(heads=None, mean=None, spread=None)


class TraceScore(msgspec.Struct, omit_defaults=True):
    """Scores of one solution; `heads`, `mean` and `spread` have one entry a step, as in `StepScore`.

    `solution` is the product of `mean` over the scored steps unless another aggregate was asked for, None
    where no step was scored. `blocks` has one entry a block of steps, where blocks were asked for. `windowed`
    counts the scored steps that were read in a window, because the solution up to them did not fit the
    context. `outcome` is p(the final answer is right), read at the last step by a model that learned it; None by
    others, and where the last step has no score. `embedding` is the solution as 32 numbers of norm 1, where it was
    asked for and some step was scored: for telling which solutions are alike under the model that scored them.
    `distance` says how unlike the training solutions the scored steps are (`prm.trust.DomainBar`): above 1 the solution
    is out of domain. It is None where the model has no bar for that, and where no step was scored.
    """

    id: str
    heads: list[list[float] | None]
    mean: list[float | None]
    spread: list[float | None]
    solution: float | None
    outcome: float | None = None
    blocks: list[float | None] | None = None
    windowed: int = 0
    embedding: list[float] | None = None
    distance: float | None = None

    @classmethod
    def of_steps(cls, id: str, steps: Sequence[StepScore]) -> "TraceScore":
        """The scores of a solution from those of its steps."""
        mean = [step.mean for step in steps]
        return cls(
            id=id,
            heads=[step.heads for step in steps],
            mean=mean,
            spread=[step.spread for step in steps],
            solution=aggregate(mean),
            outcome=steps[-1].outcome if steps else None,
            windowed=sum(step.windowed for step in steps),
        )

    @property
    def unscored(self) -> int:
        """How many steps have no score."""
        return self.mean.count(None)


class Throughput(msgspec.Struct):
    """What scoring has done so far: `tokens` are those of the solutions as they were read, problem included,
    padding left out and a shared problem counted for each solution; `peak_bytes` is the GPU's highest
    allocation where there is one, else the process's highest memory."""

    solutions: int = 0
    steps: int = 0
    unscored: int = 0
    windowed: int = 0
    tokens: int = 0
    seconds: float = 0.0
    peak_bytes: int = 0

    @property
    def steps_per_second(self) -> float:
        return self.steps / self.seconds if self.seconds else 0.0

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0

    def add(self, score: TraceScore) -> None:
        """Count one finished solution."""
        self.solutions += 1
        self.unscored += score.unscored
        self.windowed += score.windowed

    def __str__(self) -> str:
        return (
            f"{self.solutions} solutions, {self.steps} steps scored ({self.windowed} in windows), {self.unscored} not "
            f"scored; {self.steps_per_second:,.0f} steps/s, {self.tokens_per_second:,.0f} tokens/s, "
            f"peak memory {self.peak_bytes / 2**20:,.0f} MiB"
        )


def read_scores(path: Path) -> Iterator[TraceScore]:
    """Stream the scores of a JSONL file; raises DataError naming file, line and field."""
    return read_records(path, TraceScore)


def write_scores(path: Path, scores: Iterable[TraceScore]) -> int:
    """Write scores as JSONL, atomically replacing `path`; returns how many were written."""
    return write_records(path, scores)


def aggregate(scores: Sequence[float | None], by: Aggregate = "product") -> float | None:
    """One score for several steps, of those that have one: their product, least, mean or last; None for none.

    The product is the probability that no step is an error, each given that those before it are good
    (Lightman et al. 2023, section 2.6); it falls with length where `min`, `mean` and `last` do not.
    """
    scored = [score for score in scores if score is not None]
    return _AGGREGATES[by](scored) if scored else None


def block_starts(n_steps: int, blocks: int | Sequence[int]) -> list[int]:
    """Where each block of steps begins: every `blocks` steps, or at the given positions.

    Positions rise from 0 and lie within the solution; DataError otherwise.
    """
    if isinstance(blocks, int):
        if blocks < 1:
            raise DataError(Message("block_without_steps", blocks=blocks))
        return list(range(0, n_steps, blocks))
    starts = list(blocks)
    rising = all(a < b for a, b in pairwise(starts))
    if starts[:1] != [0] or not rising or starts[-1] >= max(1, n_steps):
        raise DataError(Message("blocks_out_of_order", starts=starts, n=n_steps))
    return starts if n_steps else []


def block_scores(
    scores: Sequence[float | None], blocks: int | Sequence[int], by: Aggregate = "product"
) -> list[float | None]:
    """One score a block, of its steps' scores; None where a step of it has none."""
    starts = block_starts(len(scores), blocks)
    parts = [scores[start:end] for start, end in zip(starts, [*starts[1:], len(scores)], strict=True)]
    return [None if None in part else aggregate(part, by) for part in parts]


def aggregated(
    score: TraceScore, *, by: Aggregate = "product", blocks: int | Sequence[int] | None = None
) -> TraceScore:
    """The same step scores with the solution, and its blocks where asked for, scored by this aggregate."""
    return msgspec.structs.replace(
        score,
        solution=aggregate(score.mean, by),
        blocks=None if blocks is None else block_scores(score.mean, blocks, by),
    )


_AGGREGATES: dict[Aggregate, Callable[[list[float]], float]] = {
    "product": math.prod,
    "min": min,
    "mean": lambda scored: math.fsum(scored) / len(scored),
    "last": lambda scored: scored[-1],
}
