"""Detects people whose answers follow a pattern instead of the solutions. Pure.

Three patterns predict a person's next first error from the ones before: always none, the same step as last time, and
taking turns between two answers. A person who reads agrees with such a prediction about as often as other people do.
One who does not read agrees nearly always. A careful person may do so at ODDS times the usual odds. Predictions that
the reference confirms say nothing and are left out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

from annotation.labels.annotators.evidence import Rise, highest_rise, tolerated, weigh
from annotation.labels.annotators.judged_labels import NO_ERROR, FirstErrorLabel, Reference, of_people

Pattern = Literal["none", "same", "turns"]
PATTERNS: tuple[Pattern, ...] = ("none", "same", "turns")


def find_patterns(
    labels: Sequence[FirstErrorLabel],
    references: Mapping[int, Reference],
    *,
    threshold: float,
    cleared_until: Mapping[str, datetime] | None = None,
) -> dict[str, tuple[Pattern, Rise]]:
    """The people whose answers follow a pattern, with the one that explains most."""
    cleared = cleared_until or {}
    own = of_people(labels)
    everybody = _Answers(labels, references)
    patterns = {}
    for who, answers in own.items():
        others = everybody.without(_Answers(answers, references))
        rises = []
        for pattern in PATTERNS:
            evidence = [
                weigh(
                    label.label,
                    label.at,
                    label.first_error == predicted,
                    usual=tolerated(others.rate(predicted, known)),
                )
                for label, predicted in _predictions(answers, pattern)
                for known in [label.label in references]
                if not (known and references[label.label].first_error == predicted)
            ]
            if rise := highest_rise(evidence, threshold=threshold, after=cleared.get(who)):
                rises.append((pattern, rise))
        if rises:
            patterns[who] = max(rises, key=lambda one: one[1].score)
    return patterns


def _predictions(answers: Sequence[FirstErrorLabel], pattern: Pattern) -> Iterator[tuple[FirstErrorLabel, int]]:
    """Each label with the answer that the pattern predicts, if it predicts one."""
    for number, label in enumerate(answers):
        before = [one.first_error for one in answers[max(number - 2, 0) : number]]
        if pattern == "none":
            yield label, NO_ERROR
        elif pattern == "same" and before and before[-1] != NO_ERROR:
            yield label, before[-1]
        elif pattern == "turns" and len(before) == 2 and before[0] != before[1]:
            yield label, before[0]


class _Answers:
    """How often each answer is given on solutions with a reference, by that reference, and on others (None)."""

    def __init__(self, labels: Sequence[FirstErrorLabel], references: Mapping[int, Reference]) -> None:
        self._counts: dict[int | None, Counter[int]] = defaultdict(Counter)
        for label in labels:
            if not label.machine and not label.adjudicates:
                reference = references.get(label.label)
                self._counts[reference and reference.first_error][label.first_error] += 1

    def without(self, own: "_Answers") -> "_Answers":
        rest = _Answers([], {})
        for reference, counts in self._counts.items():
            rest._counts[reference] = counts - own._counts[reference]
        return rest

    def rate(self, answer: int, known: bool) -> float:
        """The rate of an answer where the reference is another one, or where it is unknown. Starts at one half."""
        groups = [
            counts
            for reference, counts in self._counts.items()
            if (reference is not None) == known and reference != answer
        ]
        given = sum(counts[answer] for counts in groups)
        return (given + 1) / (sum(counts.total() for counts in groups) + 2)
