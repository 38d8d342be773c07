"""Detects people whose answers follow a pattern instead of the solutions. Pure.

Three patterns predict a person's next first error from the ones before: always none, the same step as last time, and
taking turns between two answers. A person who reads agrees with such a prediction about as often as other people do.
One who does not read agrees nearly always. A careful person may do so at ODDS times the usual odds. Predictions that
the reference confirms say nothing and are left out. So are labels with the same time: they were imported from a file
without times, and the order of such a file is not the order in which the person worked.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Literal

from annotation.core.bounds import about
from annotation.labels.annotators.evidence import NOBODY, Rise, highest_rise, tolerated, weigh
from annotation.labels.annotators.judged_labels import FirstErrorLabel, Reference, of_people
from prm.vocabulary import NO_ERROR

Pattern = Literal["none", "same", "turns"]
PATTERNS: tuple[Pattern, ...] = ("none", "same", "turns")


@dataclass(frozen=True)
class PatternShare:
    """How many of `of` answers are as the pattern predicts, and how many would be if others had answered."""

    pattern: Annotated[
        Pattern, about("`none`, the `same` step as before, or the answer of the label before last (`turns`).")
    ]
    count: Annotated[int, about("Labels that give the pattern's answer.")]
    of: Annotated[int, about("Labels for which the pattern and the reference differ.")]
    usual: Annotated[float, about("How many would give it if other people had labelled.")]


def find_patterns(
    labels: Sequence[FirstErrorLabel],
    references: Mapping[int, Reference],
    *,
    threshold: float,
    cleared_until: Mapping[str, datetime] = NOBODY,
) -> dict[str, tuple[Pattern, Rise]]:
    """The people whose answers follow a pattern, with the one that explains most."""
    patterns = {}
    for who, by_pattern in _signs(labels, references).items():
        rises = []
        for pattern, signs in by_pattern.items():
            evidence = [weigh(one.label, one.at, one.hit, usual=tolerated(one.rate)) for one in signs]
            if rise := highest_rise(evidence, threshold=threshold, after=cleared_until.get(who)):
                rises.append((pattern, rise))
        if rises:
            patterns[who] = max(rises, key=lambda one: one[1].score)
    return patterns


def pattern_shares(
    labels: Sequence[FirstErrorLabel], references: Mapping[int, Reference]
) -> dict[str, list[PatternShare]]:
    """How far each person's answers follow each pattern, where the reference does not confirm the prediction."""
    return {
        who: [
            PatternShare(pattern, sum(one.hit for one in signs), len(signs), sum(one.rate for one in signs))
            for pattern, signs in by_pattern.items()
        ]
        for who, by_pattern in _signs(labels, references).items()
    }


@dataclass(frozen=True)
class _Sign:
    """Whether a label is as a pattern predicts, and the rate at which other people's are."""

    label: int
    at: datetime
    hit: bool
    rate: float


def _signs(
    labels: Sequence[FirstErrorLabel], references: Mapping[int, Reference]
) -> dict[str, dict[Pattern, list[_Sign]]]:
    everybody = _Answers(labels, references)
    signs = {}
    for who, own in of_people(labels).items():
        at_once = Counter(label.at for label in own)
        answers = [label for label in own if at_once[label.at] == 1]
        rate_of = cache(everybody.without(_Answers(own, references)).rate)
        signs[who] = {pattern: list(_signs_of(answers, pattern, references, rate_of)) for pattern in PATTERNS}
    return signs


def _signs_of(
    answers: Sequence[FirstErrorLabel],
    pattern: Pattern,
    references: Mapping[int, Reference],
    rate_of: Callable[[int, bool], float],
) -> Iterator[_Sign]:
    for label, predicted in _predictions(answers, pattern):
        reference = references.get(label.label)
        if reference is None or reference.first_error != predicted:
            rate = rate_of(predicted, reference is not None)
            yield _Sign(label.label, label.at, label.first_error == predicted, rate)


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
                self._counts[None if reference is None else reference.first_error][label.first_error] += 1

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
