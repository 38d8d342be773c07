"""Compares the cost of scoring all steps with that of one score per answer, and their benefit in best-of-N.

There are three ways to score a solution with one backbone: one pass for all steps, one pass for the end only (an
outcome model), and one pass per prefix, as in scorers with one score per sequence.
"""

import time
from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec
import numpy as np

from prm.encoding import Encoded, encode
from prm.errors import DataError
from prm.evaluation.best_of_n import best_of_n, expected_selected
from prm.evaluation.metrics import Metric, as_metric, draws_of
from prm.features import compute_features
from prm.labels import problem_of
from prm.messages import Message
from prm.scores import TraceScore
from prm.scoring import Scorer
from prm.traces import Trace
from prm.training.costs import Arithmetic


class Way(msgspec.Struct, frozen=True):
    """One way to score, per solution: wall seconds (the minimum over repeats), tokens, FLOPs and scores."""

    name: str
    seconds: float
    tokens: float
    flops: float
    scores: float


class Training(msgspec.Struct, frozen=True):
    """The cost of training a model: seconds, and the numbers of step labels and graded answers."""

    name: str
    seconds: float
    step_labels: int
    answer_labels: int


class Choice(msgspec.Struct, frozen=True):
    """Shares of right answers at N, chosen by the product of step scores and by the outcome head; `gain` is the mean
    difference by problem."""

    n: int
    process: Metric
    outcome: Metric
    gain: Metric


class Cost(msgspec.Struct, frozen=True):
    """The report on costs; `choices` is empty without an outcome model."""

    n_solutions: int
    n_steps: int
    device: str
    ways: list[Way]
    training: list[Training]
    choices: list[Choice]


def solutions_to_time(scorer: Scorer, traces: Iterable[Trace], most: int) -> list[Trace]:
    """The first solutions that have steps, all of which fit the context, at most `most`. Raises DataError for none."""
    backbone = scorer.backbone

    def fits(trace: Trace) -> bool:
        [item] = encode([trace], backbone.tokenizer, backbone.layout, backbone.context)
        return len(item.spans) == item.n_steps > 0

    chosen = list(islice(filter(fits, traces), most))
    if not chosen:
        raise DataError(Message("no_solution_for_costs"))
    return chosen


def ways_to_score(scorer: Scorer, traces: Sequence[Trace], *, repeats: int = 3) -> list[Way]:
    """Time the three ways on `solutions_to_time`, in batches of the scorer's token budget."""
    backbone = scorer.backbone
    whole = encode(traces, backbone.tokenizer, backbone.layout, backbone.context)
    ends = [Encoded(item.ids, item.spans[-1:], 1) for item in whole]
    prefixes = [Encoded(item.ids[: span[1]], (span,), 1) for item in whole for span in item.spans]
    arithmetic = Arithmetic.of(backbone, predictions="statistics" in scorer.features)
    ways = {"every step, one pass": whole, "the end only": ends, "every prefix": prefixes}
    seconds = {name: float("inf") for name in ways}
    for _ in range(repeats):  # alternating, so that other load affects all ways alike
        for name, items in ways.items():
            seconds[name] = min(seconds[name], _seconds(scorer, items))
    return [
        Way(
            name,
            seconds[name] / len(traces),
            sum(len(item.ids) for item in items) / len(traces),
            arithmetic.forward(len(item.ids) for item in items) / len(traces),
            sum(len(item.spans) for item in items) / len(traces),
        )
        for name, items in ways.items()
    ]


def training_of(name: str, scorer: Scorer) -> Training:
    """The training cost in a scorer's manifest; raises DataError for a scorer that was not trained."""
    if scorer.manifest is None:
        raise DataError(Message("model_not_trained", name=name))
    counts, config = scorer.manifest.counts, scorer.manifest.config
    return Training(
        name,
        scorer.manifest.seconds,
        step_labels=counts.steps if config.process_weight else 0,
        answer_labels=counts.right_answers + counts.wrong_answers,
    )


def choices(
    traces: Sequence[Trace],
    process: Sequence[TraceScore],
    outcome: Sequence[TraceScore],
    *,
    bootstrap: int = 1000,
    seed: int = 0,
) -> list[Choice]:
    """Compare two models' choices on the same pools; intervals resample problems.

    A solution with an unscored step ranks last by its steps. Raises DataError if the second model has no outcome
    scores, and as `best_of_n` does.
    """
    sizes = [point.n for point in best_of_n(traces, process, bootstrap=0).points]
    draws = draws_of(len({problem_of(trace) for trace in traces}), bootstrap, seed)
    first = _expected(traces, {score.id: 0.0 if score.unscored else score.solution or 0.0 for score in process}, sizes)
    second = _expected(traces, {score.id: _outcome(score) for score in outcome}, sizes)

    def mean(values: np.ndarray) -> Metric:
        return as_metric(draws @ values / draws.sum(axis=1))

    return [
        Choice(n, mean(first[:, k]), mean(second[:, k]), mean(first[:, k] - second[:, k])) for k, n in enumerate(sizes)
    ]


def _seconds(scorer: Scorer, items: Sequence[Encoded]) -> float:
    """The time of scoring; the features are copied to the CPU, which waits for a GPU."""
    began = time.perf_counter()
    scorer.judges.step(compute_features(scorer.backbone, items, scorer.local.token_budget, scorer.features))
    return time.perf_counter() - began


def _expected(traces: Sequence[Trace], rank: dict[str, float], sizes: Sequence[int]) -> np.ndarray:
    """The chance of a right choice by problem and size, [problems, sizes]."""
    pools: dict[str, list[Trace]] = {}
    for trace in traces:
        pools.setdefault(problem_of(trace), []).append(trace)
    return np.array(
        [
            [
                expected_selected([bool(t.final_answer_correct) for t in pool], [rank[t.id] for t in pool], n)
                for n in sizes
            ]
            for pool in pools.values()
        ]
    )


def _outcome(score: TraceScore) -> float:
    if score.outcome is None:
        raise DataError(Message("no_outcome_score", id=score.id))
    return score.outcome
