"""Whether people reject valid solutions because they are unconventional. Pure.

A solution is valid if its final answer is right and the reference has no error. Its likeness to the usual way is the
mean share of words that it has in common with the other right solutions of its problem (P. Jaccard's index of the sets
of words and numbers in their steps). The quarter of the project's valid solutions with the least is unconventional.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, quantiles
from typing import Annotated

from annotation.core.bounds import about
from annotation.labels.annotators.anchoring import difference
from annotation.work.gold.gold_accuracy import Share, share_of
from prm.consensus import Measured

LEAST_OTHERS = 2  # right solutions of the problem besides this one
LEAST_SOLUTIONS = 8  # valid solutions of the project below which no quarter is unconventional
WORDS = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Rejections:
    """Labels on valid solutions that report an error."""

    unconventional: Annotated[Share, about("On the quarter that is least like the others.")]
    others: Annotated[Share, about("On other valid solutions.")]

    @property
    def gap(self) -> Measured | None:
        return difference(self.unconventional, self.others)


def words_of(text: str) -> frozenset[str]:
    return frozenset(WORDS.findall(text.casefold()))


def unconventional_solutions(
    words: Mapping[int, Mapping[int, frozenset[str]]], valid: frozenset[int]
) -> dict[int, bool]:
    """Whether each valid solution is unconventional, where its problem has enough other right solutions.

    `words` are those of the right solutions of each problem.
    """
    likeness = {
        solution: mean(_jaccard(own, other) for name, other in solutions.items() if name != solution)
        for solutions in words.values()
        if len(solutions) > LEAST_OTHERS
        for solution, own in solutions.items()
        if solution in valid
    }
    if len(likeness) < LEAST_SOLUTIONS:
        return {}
    limit = quantiles(likeness.values(), n=4)[0]
    return {solution: value < limit for solution, value in likeness.items()}


def rejections_of(labels: Sequence[tuple[int, bool]], unconventional: Mapping[int, bool]) -> Rejections:
    """The rejections among labels: pairs of a valid solution and whether the label reports an error."""

    def share(rare: bool) -> Share:
        rejected = [error for solution, error in labels if unconventional.get(solution) is rare]
        return share_of(sum(rejected), len(rejected))

    return Rejections(share(True), share(False))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0
