"""Detects people whose labels equal another's beyond what the truth explains. Pure.

A copy is made later than its original. Two people who are right agree, so agreement alone says nothing. Two facts do:
the same first error where at least two other people or an adjudication name another one, and the same long comment,
word for word. The usual rate of shared mistakes comes from all other pairs of people, and is at least USUAL.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.labels.annotators.evidence import NOBODY, Evidence, Rise, highest_rise, log_ratio, weigh
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


@dataclass(frozen=True)
class Likeness:
    """How much the labels of `who` equal the earlier ones of `original`: of the solutions `shared`, those with the
    `same` first error; of the `mistakes` of the original, those that are the same (`same_mistakes`), where other pairs
    share `usual`; and equal long comments."""

    who: str
    original: str
    shared: int
    same: int
    mistakes: int
    same_mistakes: int
    usual: float
    comments: int


def find_copies(
    labels: Sequence[FirstErrorLabel],
    comments: Mapping[int, frozenset[str]],
    *,
    threshold: float,
    cleared_until: Mapping[str, datetime] = NOBODY,
) -> list[Copying]:
    """The people who copy, each with the person whose labels they equal most. `comments` are those of each label."""
    by_people = _by_people(labels)
    usual = _usual(by_people)
    copies: dict[str, Copying] = {}
    for (who, original), pairs in sorted(by_people.items()):
        evidence = [one for pair in pairs for one in _evidence(pair, comments, usual[who, original])]
        rise = highest_rise(evidence, threshold=threshold, after=cleared_until.get(who))
        if rise and (who not in copies or rise.score > copies[who].rise.score):
            same = sum(bool(_shared(pair, comments)) for pair in pairs)
            copies[who] = Copying(who, original, rise, same)
    return list(copies.values())


def likenesses_of(labels: Sequence[FirstErrorLabel], comments: Mapping[int, frozenset[str]]) -> list[Likeness]:
    """Every pair of a person and somebody who labelled the same solutions before, most shared mistakes first."""
    by_people = _by_people(labels)
    usual = _usual(by_people)
    likenesses = [
        Likeness(
            who=who,
            original=original,
            shared=len(pairs),
            same=sum(pair.equal for pair in pairs),
            mistakes=sum(pair.mistake for pair in pairs),
            same_mistakes=sum(pair.mistake and pair.equal for pair in pairs),
            usual=usual[who, original],
            comments=sum(bool(_shared(pair, comments)) for pair in pairs),
        )
        for (who, original), pairs in by_people.items()
    ]
    return sorted(likenesses, key=lambda one: (-one.same_mistakes, -one.comments, -one.same, one.who, one.original))


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


def _by_people(labels: Sequence[FirstErrorLabel]) -> dict[tuple[str, str], list[Pair]]:
    by_people: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs_of(labels):
        by_people[pair.people].append(pair)
    return by_people


def _usual(by_people: Mapping[tuple[str, str], Sequence[Pair]]) -> dict[tuple[str, str], float]:
    """For each pair of people, how often all other pairs share a mistake."""
    counts: dict[frozenset[str], Counter[bool]] = defaultdict(Counter)
    for people, pairs in by_people.items():
        counts[frozenset(people)].update(pair.equal for pair in pairs if pair.mistake)
    total = sum(counts.values(), Counter[bool]())
    usual = {}
    for people in by_people:
        others = total - counts[frozenset(people)]
        usual[people] = max((others[True] + WEIGHT * USUAL) / (others.total() + WEIGHT), USUAL)
    return usual


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
