"""How well people answer what is known: figures of gold answers, and the gold that the answers speak against. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Literal

NO_ERROR = -1
Z = 1.959964  # of a 95 % interval
GOOD, GOOD_OF = 0.8, 3  # a good annotator has so much of at least so many other gold answers right
LEAST_GOOD = 2  # good annotators who answered a gold before their disagreement means something

Outcome = Literal["right", "too_early", "too_late", "missed", "invented", "gave_up"]
OUTCOMES: tuple[Outcome, ...] = ("right", "too_early", "too_late", "missed", "invented", "gave_up")


@dataclass(frozen=True)
class Answer:
    """A person's answer to a gold solution: `said` is a first error (a position, -1 for none), None if they gave up.

    `known` is the reference's first error; `accepted` are others that count as right.
    """

    person: int
    solution: int
    said: int | None
    known: int
    accepted: frozenset[int] = frozenset()
    generation: int | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class Share:
    """`value` of `of` answers, with its 95 % interval; None where there is no answer."""

    count: int
    of: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Accuracy:
    """`right` is within the project's tolerance, `exact` the known or an accepted first error, `within_one` at most one
    step away, `presence` whether there is an error at all. `outcomes` counts what went wrong."""

    right: Share
    exact: Share
    within_one: Share
    presence: Share
    outcomes: dict[Outcome, int]

    @property
    def shares(self) -> tuple[Share, Share, Share, Share]:
        return self.right, self.exact, self.within_one, self.presence


def is_right(said: int | None, known: int, accepted: Iterable[int] = (), *, tolerance: int = 0) -> bool:
    """Whether a first error is one of those known, or within `tolerance` steps; "no error" (-1) has no neighbour."""
    if said is None:
        return False
    truths = (known, *accepted)
    if said == NO_ERROR:
        return NO_ERROR in truths
    return any(truth != NO_ERROR and abs(said - truth) <= tolerance for truth in truths)


def outcome_of(answer: Answer, *, tolerance: int = 0) -> Outcome:
    """Right, or in which way wrong."""
    if is_right(answer.said, answer.known, answer.accepted, tolerance=tolerance):
        return "right"
    if answer.said is None:
        return "gave_up"
    if answer.known == NO_ERROR:
        return "invented"
    if answer.said == NO_ERROR:
        return "missed"
    return "too_early" if answer.said < answer.known else "too_late"


def accuracy_of(answers: Sequence[Answer], *, tolerance: int = 0) -> Accuracy:
    """Of one person, of one gold solution, of one generation: of any answers."""

    def share(within: int) -> Share:
        return share_of(sum(is_right(a.said, a.known, a.accepted, tolerance=within) for a in answers), len(answers))

    present = sum(
        a.said is not None and (a.said == NO_ERROR) in {t == NO_ERROR for t in (a.known, *a.accepted)} for a in answers
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
    """A share with its score interval (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927), which is sound for few answers."""
    if not of:
        return Share(0, 0, None, None, None)
    low, high = score_interval(count / of, of)
    return Share(count, of, count / of, low, high)


def score_interval(share: float, of: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of so many."""
    spread = Z * Z / of
    middle = (share + spread / 2) / (1 + spread)
    half = Z * sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def grouped(answers: Iterable[Answer], by: Literal["person", "solution", "generation"]) -> dict[int, list[Answer]]:
    """The answers by one of their fields, in order."""
    groups: dict[int, list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[getattr(answer, by)].append(answer)
    return dict(groups)


def suspects(answers: Sequence[Answer], *, disputed_by: float, tolerance: int = 0) -> dict[int, Share]:
    """Gold solutions whose reference may be wrong: solution -> share of good annotators who disagree with it.

    A good annotator has at least 80 % of at least three *other* gold answers right. A suspect needs two good
    annotators, of whom at least the share `disputed_by` disagree.
    """
    right = {(a.person, a.solution): is_right(a.said, a.known, a.accepted, tolerance=tolerance) for a in answers}
    of: Counter[int] = Counter(person for person, _ in right)
    hits: Counter[int] = Counter(person for (person, _), hit in right.items() if hit)
    words: dict[int, list[bool]] = defaultdict(list)
    for (person, solution), hit in right.items():
        others_count, others_right = of[person] - 1, hits[person] - hit
        if others_count >= GOOD_OF and others_right >= GOOD * others_count:
            words[solution].append(not hit)
    shares = {s: share_of(sum(wrong), len(wrong)) for s, wrong in words.items() if len(wrong) >= LEAST_GOOD}
    return {s: share for s, share in shares.items() if share.count and share.count >= disputed_by * share.of}
