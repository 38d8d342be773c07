"""Detects people whose labels equal another's beyond what the truth explains. Pure.

A copy is made later than its original. Two people who are right agree, so agreement alone says nothing. Two facts do:
the same first error where at least two other people or an adjudication name another one, and the same long comment,
word for word. The usual rate of shared mistakes comes from all other pairs of people, and is at least USUAL.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.labels.annotators.evidence import Evidence, Rise, highest_rise, log_ratio, weigh
from annotation.labels.annotators.judged_labels import FirstErrorLabel, by_solution, majority

USUAL, WEIGHT = 0.2, 20  # how often people share a mistake, and its weight in pairs of labels
SAME_COMMENT, COPIED_COMMENT = 0.005, 0.5  # how often comments are equal, for people who work alone and who copy


@dataclass(frozen=True)
class Pair:
    """A label, and an earlier one by somebody else on the same solution. `mistake` if others name another first error
    than the earlier label."""

    copy: FirstErrorLabel
    original: FirstErrorLabel
    mistake: bool

    @property
    def equal(self) -> bool:
        return self.copy.first_error == self.original.first_error

    @property
    def people(self) -> tuple[str, str]:
        return self.copy.who, self.original.who


@dataclass(frozen=True)
class Copying:
    """Somebody whose labels equal those of `original`; `comments` are equal comments."""

    who: str
    original: str
    rise: Rise
    comments: int


def find_copies(
    labels: Sequence[FirstErrorLabel],
    comments: Mapping[int, frozenset[str]],
    *,
    threshold: float,
    cleared_until: Mapping[str, datetime] | None = None,
) -> list[Copying]:
    """The people who copy, each with the person whose labels they equal most. `comments` are those of each label."""
    cleared = cleared_until or {}
    by_people: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs_of(labels):
        by_people[pair.people].append(pair)
    mistakes = {people: Counter(pair.equal for pair in pairs if pair.mistake) for people, pairs in by_people.items()}
    total = sum(mistakes.values(), Counter[bool]())
    copies: dict[str, Copying] = {}
    for (who, original), pairs in sorted(by_people.items()):
        others = total - mistakes[who, original] - mistakes.get((original, who), Counter[bool]())
        rate = max((others[True] + WEIGHT * USUAL) / (others.total() + WEIGHT), USUAL)
        evidence = [one for pair in pairs for one in _evidence(pair, comments, rate)]
        rise = highest_rise(evidence, threshold=threshold, after=cleared.get(who))
        if rise and (who not in copies or rise.score > copies[who].rise.score):
            same = sum(bool(_shared(pair, comments)) for pair in pairs)
            copies[who] = Copying(who, original, rise, same)
    return list(copies.values())


def pairs_of(labels: Sequence[FirstErrorLabel]) -> Iterator[Pair]:
    """Each person's label with each earlier label by somebody else, in the order of the copies."""
    same_solution = by_solution(labels)
    seen: dict[int, list[FirstErrorLabel]] = defaultdict(list)
    for label in sorted(labels, key=lambda label: (label.at, label.label)):
        earlier = seen[label.solution]
        if not label.machine and not label.adjudicates:
            for original in earlier:
                if original.who != label.who and not original.adjudicates:
                    yield Pair(label, original, _is_mistake(label, original, same_solution[label.solution]))
        earlier.append(label)


def _is_mistake(copy: FirstErrorLabel, original: FirstErrorLabel, same_solution: Sequence[FirstErrorLabel]) -> bool:
    """Whether others name another first error. One person is not enough: two who are right would seem to copy."""
    others = [one for one in same_solution if one.who not in (copy.who, original.who) and not one.machine]
    decided = [one for one in others if one.adjudicates]
    first_error = majority(decided or others) if decided or len(others) > 1 else None
    return first_error is not None and first_error != original.first_error


def _evidence(pair: Pair, comments: Mapping[int, frozenset[str]], rate: float) -> Iterator[Evidence]:
    label = pair.copy
    if pair.mistake:
        yield weigh(label.label, label.at, pair.equal, usual=rate)
    if label.label in comments and pair.original.label in comments:
        copied = bool(_shared(pair, comments))
        ratio = log_ratio(copied, usual=SAME_COMMENT, raised=COPIED_COMMENT)
        yield Evidence(label.label, label.at, copied, SAME_COMMENT, ratio)


def _shared(pair: Pair, comments: Mapping[int, frozenset[str]]) -> frozenset[str]:
    """The comments that both labels have."""
    return comments.get(pair.copy.label, frozenset()) & comments.get(pair.original.label, frozenset())
