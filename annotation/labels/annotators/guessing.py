"""Compares people's speed with their accuracy: fast and right is fine, fast and no better than guessing is not. Pure.

A guess is one of the person's own answers, given to another of their solutions. It is right as often as these answers
happen to fit. A person is fast below FAST of the median of other people's paces, or if too many labels are unread. For
fast people a CUSUM tests "right as often as other people" against "right as often as a guess".
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from annotation.labels.annotators.evidence import NOBODY, Evidence, Rise, highest_rise, log_ratio
from annotation.labels.annotators.haste import Timed, paces_of, unread_people, usual_pace
from annotation.labels.annotators.judged_labels import FirstErrorLabel, Reference, of_people
from annotation.work.gold.gold_accuracy import Share, share_of

FAST = 0.5
LEAST_WRONG = 0.05  # how often a careful person differs from the reference, at least
CLEAR = 0.05  # a guess must be wrong more often than other people by this

Note = Literal["fast_right", "fast_worse", "fast_guessing", "fast_unknown", ""]


@dataclass(frozen=True)
class Speed:
    """A person's pace beside their accuracy.

    `step_ms` is the median time per step, and `usual_ms` other people's, None for too few labels or people. `right` is
    the share of labels that name the reference's first error, `others` that of other people's labels, None for none,
    and `guess` the share that a guess would have right.
    """

    step_ms: float | None
    usual_ms: float | None
    right: Share
    others: float | None
    guess: float | None
    fast: bool

    @property
    def note(self) -> Note:
        if not self.fast:
            return ""
        low, value, high = self.right.low, self.right.value, self.right.high
        if self.guess is None or low is None or value is None or high is None:
            return "fast_unknown"
        if value <= self.guess:
            return "fast_guessing"
        if self.others is not None and high < self.others:
            return "fast_worse"
        return "fast_right" if low > self.guess else "fast_unknown"


NO_SPEED = Speed(None, None, share_of(0, 0), None, None, fast=False)  # of machines, and of people without labels in use


def speeds_of(
    labels: Sequence[FirstErrorLabel],
    references: Mapping[int, Reference],
    timed: Sequence[Timed],
) -> dict[str, Speed]:
    """The speed of each person with labels."""
    paces, unread = paces_of(timed), unread_people(timed)
    compared = {who: [label for label in own if label.label in references] for who, own in of_people(labels).items()}
    right = {who: sum(not _wrong(label, references) for label in own) for who, own in compared.items()}
    all_right, all_compared = sum(right.values()), sum(map(len, compared.values()))
    speeds = {}
    for who, own in compared.items():
        pace, usual = paces.get(who), usual_pace(paces, who)
        speeds[who] = Speed(
            pace,
            usual,
            share_of(right[who], len(own)),
            share_of(all_right - right[who], all_compared - len(own)).value,
            _guess(own, references),
            fast=who in unread or (pace is not None and usual is not None and pace < FAST * usual),
        )
    return speeds


def find_guessing(
    labels: Sequence[FirstErrorLabel],
    references: Mapping[int, Reference],
    speeds: Mapping[str, Speed],
    *,
    threshold: float,
    cleared_until: Mapping[str, datetime] = NOBODY,
) -> dict[str, Rise]:
    """The fast people whose labels are right about as often as a guess, with the wrong labels as hits."""
    own = {who: [label for label in some if label.label in references] for who, some in of_people(labels).items()}
    wrong = {who: [_wrong(label, references) for label in some] for who, some in own.items()}
    rises = {}
    for who, speed in speeds.items():
        if not speed.fast or speed.guess is None:
            continue
        others = [one for other, some in wrong.items() if other != who for one in some]
        usual = max((sum(others) + 1) / (len(others) + 2), LEAST_WRONG)
        raised = 1 - speed.guess
        if raised < usual + CLEAR:
            continue
        evidence = [
            Evidence(label.label, label.at, hit, usual, log_ratio(hit, usual=usual, raised=min(raised, 1 - CLEAR)))
            for label in own[who]
            for hit in [_wrong(label, references)]
        ]
        if rise := highest_rise(evidence, threshold=threshold, after=cleared_until.get(who)):
            rises[who] = rise
    return rises


def _guess(compared: Sequence[FirstErrorLabel], references: Mapping[int, Reference]) -> float | None:
    """The share of pairs of different solutions in which the answer to one is the reference of the other."""
    n = len(compared)
    if n < 2:
        return None
    answers = Counter(label.first_error for label in compared)
    truths = Counter(references[label.label].first_error for label in compared)
    right = sum(not _wrong(label, references) for label in compared)
    return (sum(answers[value] * truths[value] for value in answers) - right) / (n * (n - 1))


def _wrong(label: FirstErrorLabel, references: Mapping[int, Reference]) -> bool:
    return label.first_error != references[label.label].first_error
