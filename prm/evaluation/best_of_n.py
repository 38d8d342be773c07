"""Evaluates re-ranking of N sampled solutions per problem against chance, majority vote and the oracle. numpy only.

For every N the figures are expectations over all N-subsets of a problem's candidates, in closed form, then means over
problems:

- random: the share of right candidates.
- oracle: 1 - C(M - c, N) / C(M, N) for c right ones of M (Chen et al. 2021, equation 1).
- selected: the candidate with the highest score; ties are broken at random.
- vote: the best candidate for the answer with the highest sum of votes, weighted by score (`prm.scores.vote_weight`).
  It has no closed form: between 1 and all candidates, it is the mean over SUBSETS random subsets.
- majority: a random candidate with the most frequent answer; ties are broken at random. Answers are equal by value and
  by algebra (`prm.answers`); a candidate without an answer equals no other.

A trace counts as often as it was sampled (`multiplicity`). Intervals resample whole problems. A candidate with an
unscored step ranks last.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import comb

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.answers import final_answer
from prm.answers.process import Grader, equivalence_classes
from prm.errors import DataError
from prm.evaluation.metrics import Metric, as_metric, draws_of
from prm.labels import problem_of
from prm.messages import Message
from prm.scores import AGGREGATES, TraceScore, aggregate, vote_weight
from prm.traces import Trace

OUTCOME = "outcome"
VOTE = "vote"
SUBSETS = 200
CHANCE = ("random", "majority", "oracle")
UNSCORED = float("-inf")


class Point(msgspec.Struct, frozen=True):
    """Shares of problems answered correctly with N candidates each.

    `selected` is by aggregation of step scores, and by the vote with their product; without step scores, with the
    outcome score.
    """

    n: int
    random: Metric
    majority: Metric
    oracle: Metric
    selected: dict[str, Metric]


class BestOfN(msgspec.Struct, frozen=True):
    """`points` by increasing N. `first_of_ties` is the share at the largest N if the earliest candidate wins ties.

    Most published figures take the first maximum of a list in this way.
    """

    n_problems: int
    n_candidates: int
    n_unscored: int
    n_without_answer: int
    points: list[Point]
    first_of_ties: dict[str, float]


@dataclass(frozen=True)
class _Pool:
    """A problem's candidates as columns."""

    right: list[bool]
    answers: list[str | None]
    ranks: dict[str, list[float]]


def best_of_n(
    traces: Iterable[Trace], scores: Iterable[TraceScore], *, bootstrap: int = 1000, seed: int = 0
) -> BestOfN:
    """Rank each problem's candidates by `scores`, for N in powers of two up to the smallest pool, and its size.

    A candidate's answer is `meta["final_answer"]`, else extracted from its last step. If every candidate has an outcome
    score, it ranks too, as "outcome". Raises DataError without candidates, or for a candidate without a score or a
    known outcome.
    """
    by_id = {score.id: score for score in scores}
    by_steps = any(score.mean and not score.unscored for score in by_id.values())
    by_outcome = all(score.outcome is not None for score in by_id.values())
    pools: dict[str, _Pool] = defaultdict(lambda: _Pool([], [], defaultdict(list)))
    unscored = 0
    for trace in traces:
        score, pool = by_id.get(trace.id), pools[problem_of(trace)]
        if trace.final_answer_correct is None:
            raise DataError(Message("outcome_unknown", id=trace.id))
        if score is None:
            raise DataError(Message("trace_without_score", id=trace.id))
        pool.right.extend([trace.final_answer_correct] * trace.multiplicity)
        pool.answers.extend([answer_of(trace)] * trace.multiplicity)
        unscored += (score.unscored > 0) * trace.multiplicity
        known = [] if score.unscored else [p for p in score.mean if p is not None]
        ranks = {name: aggregate(known, name) for name in AGGREGATES} | {"max": max(known, default=None)}
        for name, rank in ranks.items() if by_steps else ():
            pool.ranks[name].extend([UNSCORED if rank is None else rank] * trace.multiplicity)
        if by_outcome and score.outcome is not None:
            pool.ranks[OUTCOME].extend([score.outcome] * trace.multiplicity)
    if not pools:
        raise DataError(Message("no_candidates_to_rank"))
    largest = min(len(pool.right) for pool in pools.values())
    sizes = sorted({2**k for k in range(largest.bit_length())} | {largest})
    with Grader() as grader:
        votes = [equivalence_classes(pool.answers, grader) for pool in pools.values()]
    expected = [_expected(pool, vote, sizes) for pool, vote in zip(pools.values(), votes, strict=True)]
    draws = draws_of(len(pools), bootstrap, seed)
    means = {name: draws @ np.array([one[name] for one in expected]) / len(pools) for name in expected[0]}
    selected = [name for name in means if name not in CHANCE]
    return BestOfN(
        n_problems=len(pools),
        n_candidates=sum(len(pool.right) for pool in pools.values()),
        n_unscored=unscored,
        n_without_answer=sum(pool.answers.count(None) for pool in pools.values()),
        points=[
            Point(
                n=n,
                **{name: as_metric(means[name][:, k]) for name in CHANCE},
                selected={name: as_metric(means[name][:, k]) for name in selected},
            )
            for k, n in enumerate(sizes)
        ],
        first_of_ties={
            name: sum(pool.right[int(np.argmax(pool.ranks[name][:largest]))] for pool in pools.values()) / len(pools)
            for name in selected
            if name != VOTE
        },
    )


def answer_of(trace: Trace) -> str | None:
    """The candidate's final answer; None if there is none."""
    answer = trace.meta.get("final_answer") or (final_answer(trace.steps[-1].text) if trace.steps else None)
    return None if answer is None else str(answer)


def expected_selected(worth: Sequence[float], rank: Sequence[float], n: int) -> float:
    """Expected worth of the highest-ranked of `n` random candidates, with ties broken at random.

    With worth 1 for a right candidate and 0 for a wrong one, it is the probability that the choice is right.
    """
    tied: dict[float, list[float]] = defaultdict(list)
    for value, one in zip(rank, worth, strict=True):
        tied[value].append(one)
    left, chance = len(worth), 0.0
    for value in sorted(tied, reverse=True):  # add the probability that this is the best rank in the subset
        group = tied[value]
        chance += (comb(left, n) - comb(left - len(group), n)) / comb(len(worth), n) * sum(group) / len(group)
        left -= len(group)
    return chance


def expected_voted(
    worth: Sequence[float], rank: Sequence[float], answers: Sequence[Hashable], sizes: Sequence[int]
) -> list[float]:
    """The mean worth of the candidate that the vote of N random candidates chooses, for each N of `sizes`.

    None equals no other answer.
    """
    n = len(rank)
    groups = {answer: number for number, answer in enumerate(dict.fromkeys(answers)) if answer is not None}
    group = np.array([groups.get(answer, n + place) for place, answer in enumerate(answers)])
    _, group = np.unique(group, return_inverse=True)
    weight, ranks = np.array([vote_weight(one) for one in rank]), np.array(rank)
    order = np.random.default_rng(0).permuted(np.tile(np.arange(n), (SUBSETS, 1)), axis=1)
    row = np.arange(SUBSETS)
    chosen = np.empty((len(sizes), SUBSETS), dtype=int)
    for k, size in enumerate(sizes):
        subset = order[:, :size]
        sums = np.zeros((SUBSETS, n))
        np.add.at(sums, (row[:, None], group[subset]), weight[subset])
        won = group[subset] == sums.argmax(axis=1)[:, None]
        chosen[k] = subset[row, np.where(won, ranks[subset], -np.inf).argmax(axis=1)]
    means: list[float] = np.array(worth, dtype=float)[chosen].mean(axis=1).tolist()
    return means


def expected_oracle(right: Sequence[bool], n: int) -> float:
    """Probability that one of `n` random candidates is right."""
    return 1 - comb(len(right) - sum(right), n) / comb(len(right), n)


def expected_majority(right: Sequence[bool], answers: Sequence[Hashable], sizes: Sequence[int]) -> list[float]:
    """Probability that the most frequent answer of N random candidates is right, for each N of `sizes`.

    None equals no other answer.
    """
    groups: dict[object, list[bool]] = defaultdict(list)
    for place, (answer, one) in enumerate(zip(answers, right, strict=True)):
        groups[("no answer", place) if answer is None else answer].append(one)
    counts = [len(group) for group in groups.values()]
    chances = np.zeros(len(sizes))
    for place, group in enumerate(groups.values()):
        if any(group):
            chances += sum(group) / len(group) * _wins(len(group), counts[:place] + counts[place + 1 :], sizes)
    return chances.tolist()


def _wins(size: int, others: list[int], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Probability that an answer with `size` candidates is the most frequent among N, a tie of r + 1 won once in r + 1.

    For each number t of its own candidates in the subset: `ways[j, r]` counts the choices of j candidates from the
    other answers with at most t of each, and exactly t of r of them.
    """
    total, largest = size + sum(others), max(sizes)
    chances = np.zeros(len(sizes))
    for t in range(1, min(size, largest) + 1):
        rest = largest - t
        ways = np.zeros((rest + 1, rest // t + 1))
        ways[0, 0] = 1
        for other in others:
            before = ways.copy()
            for taken in range(1, min(other, t, rest) + 1):
                grown = comb(other, taken) * before[: rest + 1 - taken]
                if taken < t:
                    ways[taken:] += grown
                else:
                    ways[taken:, 1:] += grown[:, :-1]
        won = comb(size, t) * (ways / np.arange(1, ways.shape[1] + 1)).sum(axis=1)
        chances += [won[n - t] / comb(total, n) if n >= t else 0.0 for n in sizes]
    return chances


def _expected(pool: _Pool, vote: Sequence[Hashable], sizes: Sequence[int]) -> dict[str, list[float]]:
    return {
        "random": [sum(pool.right) / len(pool.right)] * len(sizes),
        "majority": expected_majority(pool.right, vote, sizes),
        "oracle": [expected_oracle(pool.right, n) for n in sizes],
        **{name: [expected_selected(pool.right, rank, n) for n in sizes] for name, rank in pool.ranks.items()},
        VOTE: expected_voted(pool.right, pool.ranks.get("product") or pool.ranks[OUTCOME], vote, sizes),
    }
