"""Step AUROC compared with position and length alone, with the paired gain over each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prm.audits.finding import Chart, Check, Figure, Series, Verdict
from prm.audits.subject import ENOUGH, Rows, Subject
from prm.evaluation.metrics import Array, Metric, ranking, resample
from prm.messages import Message

Chosen = NDArray[np.bool_]


@dataclass(frozen=True)
class Ranking:
    """AUROCs for the error class over some steps, with the paired gains of the scores over each baseline."""

    scores: Metric
    index_only: Metric
    length_only: Metric
    over_index: Metric
    over_length: Metric
    n_steps: int
    n_errors: int

    @property
    def is_ample(self) -> bool:
        """Whether there are enough steps of both classes to judge."""
        return self.scores.low is not None

    def figure(self, name: str, group: str) -> Figure:
        """The ranking as a row of a table."""
        return Figure(
            name=name,
            value=self.scores,
            n=self.n_steps,
            of=f"steps, {self.n_errors} errors",
            group=group,
            index_only=self.index_only if self.is_ample else None,
            length_only=self.length_only if self.is_ample else None,
        )


def auroc_chart(title: str, rankings: Mapping[str, Ranking]) -> Chart:
    """A chart of the AUROCs of groups of steps, with those of position and length alone."""
    return Chart(
        title=title,
        kind="dots",
        value="AUROC",
        reference=0.5,
        series=[
            Series("scores", list(rankings), [one.scores for one in rankings.values()]),
            Series("position alone", list(rankings), [one.index_only for one in rankings.values()]),
            Series("length alone", list(rankings), [one.length_only for one in rankings.values()]),
        ],
    )


def rank_steps(subject: Subject, chosen: Chosen | None = None) -> Ranking:
    """The ranking of the chosen steps of the subject (all by default)."""
    steps, picked = subject.steps, slice(None) if chosen is None else chosen
    return rank(
        steps.p[picked],
        steps.error[picked],
        steps.index[picked],
        steps.chars[picked],
        subject.owner[picked],
        subject.draws,
    )


def rank(p: Array, error: Array, index: NDArray[Any], chars: NDArray[Any], owner: Rows, draws: Array) -> Ranking:
    """The ranking of steps from columns [steps]: p(good), 1 for an error, position, characters, problem.

    With too few steps of a class there are no numbers, since intervals would be meaningless.
    """
    n_errors = int(error.sum())
    if min(n_errors, len(p) - n_errors) < ENOUGH:
        nothing = Metric(None, None, None)
        return Ranking(nothing, nothing, nothing, nothing, nothing, n_steps=len(p), n_errors=n_errors)
    index, chars = _oriented(index.astype(float), error), _oriented(chars.astype(float), error)

    def measure(weights: Array) -> dict[str, Array]:
        scores, by_index, by_length = (ranking(one, error, weights)[0] for one in (1 - p, index, chars))
        return {
            "scores": scores,
            "index_only": by_index,
            "length_only": by_length,
            "over_index": scores - by_index,
            "over_length": scores - by_length,
        }

    return Ranking(**resample(measure, draws, owner), n_steps=len(p), n_errors=n_errors)


def above_chance(ranking: Ranking, where: str, shortcut: Verdict = "attention") -> Check:
    """Check that errors rank above right steps, else fail; `shortcut` if position or length alone ranks as well."""
    rule = f"{where}: AUROC clear of 0.5, else fail; clear of what position and length alone reach, else {shortcut}"
    if not ranking.is_ample:
        return Check(
            "cannot tell",
            rule,
            Message(
                "too_few_errors_at",
                where=where,
                errors=Message("n_errors", n=ranking.n_errors),
                steps=Message("n_steps", n=ranking.n_steps),
            ),
        )
    if not clear(ranking.scores, 0.5):
        return Check("fail", rule, Message("errors_not_separated_at", where=where))
    if not clear(ranking.over_index, 0):
        return Check(shortcut, rule, Message("no_better_than_position", where=where))
    if not clear(ranking.over_length, 0):
        return Check(shortcut, rule, Message("no_better_than_length", where=where))
    return Check("ok", rule, Message("errors_separated_at", where=where))


def clear(metric: Metric, bar: float) -> bool:
    """Whether the whole interval is above the threshold."""
    return metric.low is not None and metric.low > bar


def _oriented(values: Array, error: Array) -> Array:
    """The values, or their negatives where those rank errors better."""
    return -values if ranking(values, error, np.ones(len(values)))[0] < 0.5 else values
