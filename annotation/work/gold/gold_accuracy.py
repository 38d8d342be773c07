"""Accuracy on gold: how well people answer it, and which references good annotators dispute. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from annotation.core.bounds import about
from prm.intervals import score_interval
from prm.vocabulary import NO_ERROR

GOOD, GOOD_OF = 0.8, 3  # a good annotator has this share of at least this many other gold answers right
LEAST_GOOD = 2  # good annotators needed before their disagreement counts

Outcome = Literal["right", "too_early", "too_late", "missed", "invented", "gave_up"]
OUTCOMES: tuple[Outcome, ...] = ("right", "too_early", "too_late", "missed", "invented", "gave_up")


@dataclass(frozen=True)
class Answer:
    """A person's answer to a gold solution: a `first_error` (a position, -1 for none), None if they gave up.

    `reference` is the reference's first error; `accepted` are others that count as right.
    """

    person: int
    solution: int
    first_error: int | None
    reference: int
    accepted: frozenset[int] = frozenset()
    generation: int | None = None
    at: datetime | None = None

    def is_right(self, *, tolerance: int = 0) -> bool:
        return is_right(self.first_error, self.reference, self.accepted, tolerance=tolerance)


@dataclass(frozen=True)
class Share:
    """`count` of `of` answers: their share, `value`, with its 95 % interval; None without answers."""

    count: Annotated[int, about("Number of answers that count.")]
    of: Annotated[int, about("Number of answers.")]
    value: Annotated[float | None, about("The share; null without answers.")]
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Accuracy:
    """Shares of answers: `right` is within the project's tolerance, `exact` the reference or an accepted first error,
    `within_one` at most one step away, `presence` right on whether an error exists. `outcomes` counts each outcome."""

    right: Share
    exact: Share
    within_one: Share
    presence: Share
    outcomes: dict[Outcome, int]

    @property
    def shares(self) -> tuple[Share, Share, Share, Share]:
        return self.right, self.exact, self.within_one, self.presence


def is_right(first_error: int | None, reference: int, accepted: Iterable[int] = (), *, tolerance: int = 0) -> bool:
    """Whether a first error is the reference or an accepted one, or within `tolerance` steps of one.

    "No error" (-1) is never within a tolerance.
    """
    if first_error is None:
        return False
    truths = (reference, *accepted)
    if first_error == NO_ERROR:
        return NO_ERROR in truths
    return any(truth != NO_ERROR and abs(first_error - truth) <= tolerance for truth in truths)


def outcome_of(answer: Answer, *, tolerance: int = 0) -> Outcome:
    """Whether the answer is right, or in which way it is wrong."""
    if answer.is_right(tolerance=tolerance):
        return "right"
    if answer.first_error is None:
        return "gave_up"
    if answer.reference == NO_ERROR:
        return "invented"
    if answer.first_error == NO_ERROR:
        return "missed"
    return "too_early" if answer.first_error < answer.reference else "too_late"


def accuracy_of(answers: Sequence[Answer], *, tolerance: int = 0) -> Accuracy:
    """The accuracy of any answers: one person's, or those to one gold solution or of one generation."""

    def share(within: int) -> Share:
        return share_of(sum(answer.is_right(tolerance=within) for answer in answers), len(answers))

    present = sum(
        answer.first_error is not None
        and (answer.first_error == NO_ERROR) in {truth == NO_ERROR for truth in (answer.reference, *answer.accepted)}
        for answer in answers
    )
    counts = Counter(outcome_of(answer, tolerance=tolerance) for answer in answers)
    return Accuracy(
        right=share(tolerance),
        exact=share(0),
        within_one=share(1),
        presence=share_of(present, len(answers)),
        outcomes={outcome: counts[outcome] for outcome in OUTCOMES},
    )


def share_of(count: int, of: int) -> Share:
    """A share with its 95 % interval."""
    if not of:
        return Share(0, 0, None, None, None)
    low, high = score_interval(count / of, of)
    return Share(count, of, count / of, low, high)


def grouped(answers: Iterable[Answer], by: Literal["person", "solution", "generation"]) -> dict[int, list[Answer]]:
    """The answers grouped by one of their fields, in order."""
    groups: dict[int, list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[getattr(answer, by)].append(answer)
    return dict(groups)


def suspects(answers: Sequence[Answer], *, disputed_by: float, tolerance: int = 0) -> dict[int, Share]:
    """Gold solutions whose reference may be wrong: solution -> share of good annotators who disagree with it.

    A good annotator has at least 80 % of at least three *other* gold answers right. A suspect needs two good
    annotators, of whom at least the share `disputed_by` disagree.
    """
    right = {(answer.person, answer.solution): answer.is_right(tolerance=tolerance) for answer in answers}
    of: Counter[int] = Counter(person for person, _ in right)
    hits: Counter[int] = Counter(person for (person, _), hit in right.items() if hit)
    disagrees: dict[int, list[bool]] = defaultdict(list)
    for (person, solution), hit in right.items():
        others_count, others_right = of[person] - 1, hits[person] - hit
        if others_count >= GOOD_OF and others_right >= GOOD * others_count:
            disagrees[solution].append(not hit)
    shares = {s: share_of(sum(wrong), len(wrong)) for s, wrong in disagrees.items() if len(wrong) >= LEAST_GOOD}
    return {s: share for s, share in shares.items() if share.count and share.count >= disputed_by * share.of}
