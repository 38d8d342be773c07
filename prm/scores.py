"""Scores of steps, blocks of steps and solutions, with their file format. No torch."""

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
VOTE_POWER = 3  # 1 lets many doubtful solutions win, 6 few convincing wrong ones (research/probes.md)


class StepScore(msgspec.Struct, omit_defaults=True):
    """Scores of one step; all are None for a step that is not scored (beyond the context).

    `heads` holds p(the step is good | good prefix) of each head; `mean` and `spread` (standard deviation) are over
    heads, and `spread` is None with one head. `outcome` is p(the final answer will be right | the steps so far), None
    for a model that did not learn it. `windowed` marks a step that was scored in a window.
    """

    heads: list[float] | None
    mean: float | None
    spread: float | None
    outcome: float | None = None
    windowed: bool = False


UNSCORED = StepScore(heads=None, mean=None, spread=None)


class TraceScore(msgspec.Struct, omit_defaults=True):
    """Scores of one solution; `heads`, `mean` and `spread` have one entry per step, as in `StepScore`.

    `solution` is the product of `mean` over the scored steps, or another requested aggregate; None if no step was
    scored. `blocks` has one entry per requested block of steps. `windowed` counts the steps scored in a window because
    the solution up to them exceeds the context. `outcome` is p(the final answer is right) at the last step; None for a
    model that did not learn it, and if the last step has no score. `embedding`, if requested, has 32 numbers of norm 1
    for comparing solutions under the model that scored them. `distance` from the training solutions
    (`prm.trust.DomainBar`) is above 1 out of domain; None if the model has no such limit or no step was scored.
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
        """The number of steps without a score."""
        return self.mean.count(None)


class Throughput(msgspec.Struct):
    """Totals of scoring so far. `tokens` include the problem of each solution, even if shared, but no padding.

    `peak_bytes` is the GPU's highest allocation if there is a GPU, else the process's highest memory.
    """

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
            f"{Message('n_solutions', n=self.solutions)}, {Message('n_steps', n=self.steps)} scored "
            f"({self.windowed} in windows), {self.unscored} not scored; {self.steps_per_second:,.0f} steps/s, "
            f"{self.tokens_per_second:,.0f} tokens/s, peak memory {self.peak_bytes / 2**20:,.0f} MiB"
        )


def read_scores(path: Path) -> Iterator[TraceScore]:
    """Stream the scores of a JSONL file; raises DataError naming file, line and field."""
    return read_records(path, TraceScore)


def write_scores(path: Path, scores: Iterable[TraceScore]) -> int:
    """Write scores as JSONL, atomically replacing `path`; returns their number."""
    return write_records(path, scores)


def vote_weight(score: float) -> float:
    """The weight of a solution's vote for its answer, from its score in [0, 1]; 0 if it has none (`-inf`).

    With power 1 it is best-of-N weighted (Li et al. 2023), in which many doubtful solutions outvote a sure one. With a
    large power the highest score alone decides.
    """
    return max(score, 0.0) ** VOTE_POWER


def aggregate(scores: Sequence[float | None], by: Aggregate = "product") -> float | None:
    """The product, minimum, mean or last of several steps' known scores; None if there are none.

    The product is the probability that no step is an error, each given that the earlier ones are good (Lightman et al.
    2023, section 2.6); unlike the other aggregates it falls with length.
    """
    scored = [score for score in scores if score is not None]
    return _AGGREGATES[by](scored) if scored else None


def block_starts(n_steps: int, blocks: int | Sequence[int]) -> list[int]:
    """The first step of each block: every `blocks` steps, or these positions.

    Raises DataError unless the positions begin at 0, increase, and are within the solution.
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
    """One score per block from its steps' scores; None if a step has no score."""
    starts = block_starts(len(scores), blocks)
    parts = [scores[start:end] for start, end in zip(starts, [*starts[1:], len(scores)], strict=True)]
    return [None if None in part else aggregate(part, by) for part in parts]


def aggregated(
    score: TraceScore, *, by: Aggregate = "product", blocks: int | Sequence[int] | None = None
) -> TraceScore:
    """The same step scores, with the solution and the requested blocks scored by this aggregate."""
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
