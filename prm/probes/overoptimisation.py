"""Compares a verifier's score of the chosen solution with its correctness as N of best-of-N grows. numpy only.

It follows Gao et al. 2022, "Scaling Laws for Reward Model Overoptimization": the verifier's score is the proxy, and the
gold is whether the final answer is right and, if known, whether every step is. The proxy can only rise with N. If the
gold falls, the search finds solutions that fool the verifier.

Every figure is an expectation over all N-subsets of a problem's candidates (`prm.evaluation.best_of_n`), then a mean
over problems; intervals resample problems.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from prm.answers.process import Grader, equivalence_classes
from prm.evaluation.best_of_n import VOTE, answer_of, best_of_n, expected_selected, expected_voted
from prm.evaluation.metrics import Array, Metric, as_metric, draws_of
from prm.labels import first_error, problem_of
from prm.scores import AGGREGATES, Aggregate, TraceScore, aggregate
from prm.traces import Trace


class _Pool(NamedTuple):
    """One problem's candidates: their scores by one rule, and their correctness; `sound` is None if unknown.

    `answers` are the classes of equal answers, for a vote; None if the highest score decides.
    """

    ranks: list[float]
    right: list[bool]
    sound: list[bool] | None
    answers: Sequence[Hashable] | None


class Curve(msgspec.Struct, frozen=True):
    """One aggregation of step scores, or the vote with their product; the lists run over the sizes N.

    `proxy` is the mean score of the chosen solution, `outcome` the share of right answers, `sound` the share without a
    false step (None if unknown), and `fooled` the share of chosen solutions that are wrong and score at least `bar`,
    the median score of the right ones.

    `best_n` has the highest outcome; `enough_n` is the smallest N that is not significantly worse (95 %); `lost` is the
    loss of the largest N against `best_n`. `alpha` and `beta` fit outcome(N) - outcome(1) = d (alpha - beta d) with d
    the square root of the KL divergence in nats (Gao et al., equation 1): with beta > 0 the curve bends down.
    """

    proxy: list[Metric]
    outcome: list[Metric]
    sound: list[Metric] | None
    fooled: list[Metric]
    bar: float
    best_n: int
    enough_n: int
    lost: Metric
    alpha: Metric
    beta: Metric


class Overoptimisation(msgspec.Struct, frozen=True):
    """The curves of a verifier. `kl` is the divergence of best-of-N from the policy in nats, for each of `sizes`."""

    n_problems: int
    n_candidates: int
    bootstrap: int
    sizes: list[int]
    kl: list[float]
    random: Metric
    majority: list[Metric]
    oracle: list[Metric]
    curves: dict[str, Curve]


def overoptimisation(
    traces: Sequence[Trace], scores: Sequence[TraceScore], *, bootstrap: int = 1000, seed: int = 0
) -> Overoptimisation:
    """The curves of best-of-N over pools of solutions, for N in powers of two up to the smallest pool.

    Raises DataError for a solution without a score or a known outcome.
    """
    baseline = best_of_n(traces, scores, bootstrap=bootstrap, seed=seed)
    sizes = [point.n for point in baseline.points]
    draws = draws_of(baseline.n_problems, bootstrap, seed)
    return Overoptimisation(
        n_problems=baseline.n_problems,
        n_candidates=baseline.n_candidates,
        bootstrap=bootstrap,
        sizes=sizes,
        kl=[divergence(n) for n in sizes],
        random=baseline.points[0].random,
        majority=[point.majority for point in baseline.points],
        oracle=[point.oracle for point in baseline.points],
        curves={
            **{rule: _curve(_pools(traces, scores, rule), sizes, draws) for rule in AGGREGATES},
            VOTE: _curve(_pools(traces, scores, "product", vote=True), sizes, draws),
        },
    )


def divergence(n: int) -> float:
    """KL divergence in nats of best-of-n from the policy it samples (Gao et al. 2022, section 2)."""
    return float(np.log(n) - (n - 1) / n)


def _pools(
    traces: Sequence[Trace], scores: Sequence[TraceScore], rule: Aggregate, *, vote: bool = False
) -> list[_Pool]:
    """Pools in order of their problems' first appearance. A solution with an unscored step ranks last, with 0."""
    by_id = {score.id: score.mean for score in scores}
    members: dict[str, list[Trace]] = defaultdict(list)
    for trace in traces:
        members[problem_of(trace)].append(trace)
    with Grader() as grader:
        answers = [
            equivalence_classes([answer_of(trace) for trace in pool], grader) if vote else None
            for pool in members.values()
        ]
    pools = []
    for pool, classes in zip(members.values(), answers, strict=True):
        errors = [first_error(trace) for trace in pool]
        pools.append(
            _Pool(
                ranks=[0.0 if None in (mean := by_id[t.id]) else aggregate(mean, rule) or 0.0 for t in pool],
                right=[bool(trace.final_answer_correct) for trace in pool],
                sound=None if None in errors else [error == -1 for error in errors],
                answers=classes,
            )
        )
    return pools


def _curve(pools: Sequence[_Pool], sizes: list[int], draws: Array) -> Curve:
    right_scores = [score for pool in pools for score, right in zip(pool.ranks, pool.right, strict=True) if right]
    bar = float(np.median(right_scores)) if right_scores else 0.0
    proxy = _means(pools, [pool.ranks for pool in pools], sizes, draws)
    outcome = _means(pools, [pool.right for pool in pools], sizes, draws)
    wrong_above = [[not right and p >= bar for right, p in zip(one.right, one.ranks, strict=True)] for one in pools]
    fooled = _means(pools, wrong_above, sizes, draws)
    known = [pool.sound for pool in pools if pool.sound is not None]
    sound = _means(pools, known, sizes, draws) if len(known) == len(pools) else None
    best = int(np.argmax(outcome[0]))
    against_best = [as_metric(outcome[:, best] - outcome[:, k]) for k in range(len(sizes))]
    enough = next(k for k, gain in enumerate(against_best) if k == best or (gain.low is not None and gain.low <= 0))
    alpha, beta = _scaling(outcome, sizes)
    return Curve(
        proxy=_metrics(proxy),
        outcome=_metrics(outcome),
        sound=None if sound is None else _metrics(sound),
        fooled=_metrics(fooled),
        bar=bar,
        best_n=sizes[best],
        enough_n=sizes[enough],
        lost=against_best[-1],
        alpha=as_metric(alpha),
        beta=as_metric(beta),
    )


def _means(pools: Sequence[_Pool], worth: Sequence[Sequence[float]], sizes: list[int], draws: Array) -> Array:
    """The mean over problems of the chosen candidate's worth, at each size and in each resample: [draws, sizes]."""
    expected = [_expected(pool, of, sizes) for pool, of in zip(pools, worth, strict=True)]
    return draws @ np.array(expected) / draws.sum(axis=1, keepdims=True)


def _expected(pool: _Pool, worth: Sequence[float], sizes: list[int]) -> list[float]:
    if pool.answers is None:
        return [expected_selected(worth, pool.ranks, n) for n in sizes]
    return expected_voted(worth, pool.ranks, pool.answers, sizes)


def _metrics(samples: Array) -> list[Metric]:
    return [as_metric(column) for column in samples.T]


def _scaling(outcome: Array, sizes: list[int]) -> tuple[Array, Array]:
    """Least squares of alpha and beta in each resample; nan with too few sizes."""
    if len(sizes) < 3:
        return np.full(len(outcome), np.nan), np.full(len(outcome), np.nan)
    distance = np.sqrt([divergence(n) for n in sizes])
    gains = (outcome - outcome[:, :1]).T
    alpha, beta = np.linalg.lstsq(np.stack([distance, -(distance**2)], axis=1), gains, rcond=None)[0]
    return alpha, beta
