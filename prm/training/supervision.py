"""The labels of documents as tensors, with one entry for each step that fits the context."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from prm.answers.noise import NoiseRates
from prm.config import TrainConfig
from prm.encoding import Encoded
from prm.labels import problem_of, step_labels, step_target
from prm.manifest import Counts, EstimateCounts, GradedCounts, PositionCount, provenance_of
from prm.training.dataset import Document, TrainingData
from prm.vocabulary import NeutralPolicy

POSITIONS = (("1", 1, 1), ("2", 2, 2), ("3-4", 3, 4), ("5-8", 5, 8), ("9-16", 9, 16), ("17-", 17, 1 << 30))
NONE = (1.0, 0.0, 0.0)  # in place of an unlabelled step's posterior; its weight is 0


@dataclass(frozen=True)
class Claims:
    """The claims of one source about unread solutions: that no step up to a row is an error.

    Its `row` [claims], the number of its `solution` [claims], and its `evidence` [claims]: the chance that it is true
    if half of such claims are. A chance of .5 says nothing.
    """

    row: Tensor
    solution: Tensor
    evidence: Tensor

    @classmethod
    def of(cls, claims: Sequence[tuple[int, int, float]]) -> "Claims":
        """The claims of triples of row, solution and evidence."""
        row, solution, evidence = zip(*claims, strict=True) if claims else ((), (), ())
        return cls(
            torch.tensor(row, dtype=torch.long),
            torch.tensor(solution, dtype=torch.long),
            torch.tensor(evidence, dtype=torch.float32),
        )


@dataclass(frozen=True)
class UnreadSolutions:
    """Solutions that teach by the grade of their final answer, or by Monte Carlo estimates.

    By solution: its document, its rows and source group, and whether the answer is right. A grade claims that no step
    up to the last row is an error.
    """

    documents: list[int]
    rows: list[range]
    groups: list[str]
    right: list[bool]
    grades: Claims
    estimates: Claims


@dataclass(frozen=True)
class Supervision:
    """Labels by row, in the documents' order. `posterior` [rows, 3] is over good, neutral and bad.

    `reliability` [rows] is its weight; `good` and `weight` [rows] are p(no error) and its weight under the neutral
    policy. `right` [rows] is 1 if the final answer is right, and `ends` [rows] is 1 at a solution's last step if that
    is known. `pairs` [pairs, 2] are rows of labelled completions at one position, and `place` [rows] numbers the
    positions. `trace_ids` and `groups` are each row's trace and source group. `flawless` is the share of labelled
    solutions without an error, and `before_error` that of their steps before the first error, with one added solution
    of either kind. The rows of `unread` follow all others.
    """

    posterior: Tensor
    reliability: Tensor
    good: Tensor
    weight: Tensor
    right: Tensor
    ends: Tensor
    place: Tensor
    pairs: Tensor
    trace_ids: list[str]
    groups: list[str]
    flawless: float
    before_error: float
    unread: UnreadSolutions

    @classmethod
    def of(cls, documents: Sequence[Document], encoded: Sequence[Encoded], neutral: NeutralPolicy) -> "Supervision":
        """The labels of the documents' encoded steps."""
        posterior: list[tuple[float, float, float]] = []
        targets: list[tuple[float, float, float]] = []
        ends: list[tuple[bool, bool]] = []
        trace_ids: list[str] = []
        groups: list[str] = []
        places: dict[tuple[int, int], list[int]] = {}
        unread: dict[int, range] = {}
        grades: list[tuple[int, int, float]] = []
        estimates: list[tuple[int, int, float]] = []
        for number, (document, item) in enumerate(zip(documents, encoded, strict=True)):
            trace, fitting = document.trace, len(item.spans)
            if document.right is not None:
                own = range(len(posterior), len(posterior) + fitting)
                if document.grade is not None:
                    grades.append((own[-1], len(unread), document.grade))
                estimated = zip(own, document.estimates, strict=False)  # the last step has none if it has a grade
                estimates += [(row, len(unread), chance) for row, chance in estimated if chance is not None]
                unread[number] = own
            answered = trace.final_answer_correct is not None and fitting == item.n_steps
            for k, label in enumerate(step_labels(trace)[:fitting]):
                target = step_target(label, neutral)
                if label is not None and target.weight > 0:
                    places.setdefault((document.owner, k), []).append(len(posterior))
                posterior.append((label.good, label.neutral, label.bad) if label else NONE)
                targets.append((*target, label.weight if label else 0.0))
                ends.append((bool(trace.final_answer_correct), answered and k == fitting - 1))
                trace_ids.append(trace.id)
                groups.append(document.group)
        place = list(range(len(posterior)))
        for rows in places.values():
            for row in rows:
                place[row] = rows[0]
        pairs = [pair for rows in places.values() for pair in combinations(rows, 2)]
        good, weight, reliability = torch.tensor(targets, dtype=torch.float32).reshape(-1, 3).unbind(1)
        right, at_end = torch.tensor(ends, dtype=torch.float32).reshape(-1, 2).unbind(1)
        return cls(
            posterior=torch.tensor(posterior, dtype=torch.float32).reshape(-1, 3),
            reliability=reliability,
            good=good,
            weight=weight,
            right=right,
            ends=at_end,
            place=torch.tensor(place, dtype=torch.long),
            pairs=torch.tensor(pairs, dtype=torch.long).reshape(-1, 2),
            trace_ids=trace_ids,
            groups=groups,
            flawless=_mean([one.flawless for one in documents]),
            before_error=_mean([one.before_error for one in documents]),
            unread=UnreadSolutions(
                documents=list(unread),
                rows=list(unread.values()),
                groups=[documents[number].group for number in unread],
                right=[bool(documents[number].right) for number in unread],
                grades=Claims.of(grades),
                estimates=Claims.of(estimates),
            ),
        )

    def step_weights(self, classes: int) -> Tensor:
        """The weight of each row's step label, [rows]; three classes need no neutral policy."""
        return self.reliability if classes == 3 else self.weight

    def used(self, config: TrainConfig) -> Tensor:
        """The rows from which the configured model learns, [rows] of bool."""
        steps = self.step_weights(config.classes) > 0 if config.process_weight else torch.zeros_like(self.ends).bool()
        return steps | (self.ends > 0) if config.outcome_weight else steps


def _mean(shares: Sequence[float | None]) -> float:
    """The mean of the known shares, with one added 1 and one added 0."""
    known = [share for share in shares if share is not None]
    return (sum(known) + 1) / (len(known) + 2)


def counts(parts: TrainingData, taught: Sequence[Document], encoded: Sequence[Encoded], known: Supervision) -> Counts:
    """The counts of the training part for the manifest."""
    counted = known.weight > 0
    bad, position = 1 - known.good[counted], _positions(encoded)[counted]
    answered = known.ends > 0
    return Counts(
        solutions=len(parts.fit),
        problems=len({problem_of(trace) for trace in parts.fit}),
        held_solutions=len(parts.held),
        steps=int(counted.sum()),
        good=_total(known.good[counted]),
        bad=_total(bad),
        ignored=int((~counted).sum()) - sum(map(len, known.unread.rows)),
        not_scored=sum(item.n_steps - len(item.spans) for item in encoded),
        neutral=_total(known.posterior[known.reliability > 0, 1]),
        alternatives=len(taught) - len(parts.fit),
        pairs=len(known.pairs),
        left_out=parts.left_out,
        right_answers=int(known.right[answered].sum()),
        wrong_answers=int((1 - known.right[answered]).sum()),
        by_position={
            name: PositionCount(int(within.sum()), _total(bad[within]))
            for name, low, high in POSITIONS
            if (within := (position >= low) & (position <= high)).any()
        },
        provenance=provenance_of([*parts.fit, *parts.held]),
    )


def graded_counts(known: Supervision, noise: NoiseRates) -> GradedCounts | None:
    """The counts of the graded solutions for the manifest; None without any."""
    graded = known.unread.grades.solution.tolist()
    right = sum(known.unread.right[number] for number in graded)
    return GradedCounts(right, len(graded) - right, noise) if graded else None


def estimate_counts(known: Supervision, noise: NoiseRates) -> EstimateCounts | None:
    """The counts of the solutions with Monte Carlo estimates for the manifest; None without any."""
    estimated = known.unread.estimates.solution
    return EstimateCounts(len(estimated.unique()), len(estimated), noise) if len(estimated) else None


def _positions(encoded: Sequence[Encoded]) -> Tensor:
    """The position of each row in its document, from 1."""
    return torch.tensor([k for item in encoded for k in range(1, len(item.spans) + 1)], dtype=torch.long)


def _total(values: Tensor) -> float:
    return round(float(values.sum()), 3)
