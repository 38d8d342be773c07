"""Detects labels made faster than anybody can read, and annotators who are far faster than the others. Pure.

A label is unread if its active time is below a floor that no reader reaches: CHARACTERS_A_SECOND of the steps that it
rates (about 1,000 English words a minute, four times the usual silent reading; M. Brysbaert, J. Mem. Lang. 109, 2019),
and FLOOR_MS a step. Careful people skim now and then, so single labels raise nothing: unread labels add up as evidence.

Compared with others, a person's pace is the median, over their latest labels, of the active time divided by the number
of rated steps, because some people read everything before they rate, and others rate while they read. Too fast is below
the median of other people's paces, less the larger of a factor and some robust standard deviations (1.4826 times the
median absolute deviation, F. R. Hampel, J. Am. Stat. Assoc. 69, 1974), all in logarithms, because times are skewed to
the right. It needs OTHERS people.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from statistics import median

from annotation.labels.annotators.evidence import NOBODY, ODDS, Evidence, Rise, highest_rise, log_ratio

RECENT = 40  # latest labels of a person
LEAST = 12  # labels of a person below which they are not compared with others
OTHERS = 3
FACTOR, DEVIATIONS = 4.0, 3.5
FLOOR_MS = 500.0  # a step: about two words at a usual reading speed
CHARACTERS_A_SECOND = 100.0
SKIMMED, UNREAD = 0.05, 0.5  # how often a careful person's labels are unread, and a careless one's


@dataclass(frozen=True)
class Timed:
    """A label by `who`, its active time, and the steps that it rates with their characters."""

    label: int
    who: str
    at: datetime
    ms: float
    steps: int
    characters: int = 0

    @property
    def step_ms(self) -> float:
        return self.ms / self.steps

    @property
    def unread(self) -> bool:
        return self.ms < max(FLOOR_MS * self.steps, 1000 * self.characters / CHARACTERS_A_SECOND)


@dataclass(frozen=True)
class Haste:
    """A person whose latest `labels` took `step_ms` per step; `usual_ms` is other people's median."""

    who: str
    since: datetime
    until: datetime
    labels: int
    step_ms: float
    usual_ms: float


def find_unread(
    timed: Sequence[Timed], *, threshold: float, cleared_until: Mapping[str, datetime] = NOBODY
) -> dict[str, Rise]:
    """The people who rate without reading, with the unread labels as hits. Labels up to `cleared_until` are past."""
    rises = {}
    weights = {unread: log_ratio(unread, usual=SKIMMED, raised=UNREAD) for unread in (True, False)}
    for who, own in _by_person(timed).items():
        unread = [one.unread for one in own]
        if not any(unread):
            continue
        evidence = [
            Evidence(one.label, one.at, hit, SKIMMED, weights[hit]) for one, hit in zip(own, unread, strict=True)
        ]
        if rise := highest_rise(evidence, threshold=threshold, after=cleared_until.get(who)):
            rises[who] = rise
    return rises


def unread_people(timed: Sequence[Timed]) -> frozenset[str]:
    """The people with at least LEAST timed labels of which too many are unread."""
    return frozenset(
        who
        for who, own in _by_person(timed).items()
        if len(own) >= LEAST and sum(one.unread for one in own) > SKIMMED * ODDS * len(own)
    )


def find_haste(timed: Sequence[Timed], *, cleared_until: Mapping[str, datetime] = NOBODY) -> list[Haste]:
    """The people who are much faster than others, fastest first. Labels up to `cleared_until` do not count."""
    latest = _latest(timed)
    paces = _paces(latest)
    hasty_people = []
    for annotator, own in latest.items():
        fresh = [label for label in own if annotator not in cleared_until or label.at > cleared_until[annotator]]
        limits = _limit([pace for other, pace in paces.items() if other != annotator])
        if limits is None or len(fresh) < LEAST:
            continue
        usual, limit = limits
        pace = median(label.step_ms for label in fresh)
        if pace < limit:
            hasty = [label for label in fresh if label.step_ms < limit]
            hasty_people.append(Haste(annotator, hasty[0].at, hasty[-1].at, len(fresh), pace, usual))
    return sorted(hasty_people, key=lambda haste: (haste.step_ms, haste.who))


def paces_of(timed: Sequence[Timed]) -> dict[str, float]:
    """Each person's milliseconds per step: the median over their latest labels. Only people with LEAST labels."""
    return _paces(_latest(timed))


def usual_pace(paces: Mapping[str, float], who: str) -> float | None:
    """The median of other people's paces; None for too few people."""
    others = [pace for other, pace in paces.items() if other != who]
    return median(others) if len(others) >= OTHERS else None


def _paces(latest: Mapping[str, list[Timed]]) -> dict[str, float]:
    return {who: median(label.step_ms for label in own) for who, own in latest.items()}


def _latest(timed: Iterable[Timed]) -> dict[str, list[Timed]]:
    return {who: own[-RECENT:] for who, own in _by_person(timed).items() if len(own) >= LEAST}


def _by_person(timed: Iterable[Timed]) -> dict[str, list[Timed]]:
    labels: dict[str, list[Timed]] = {}
    for label in sorted(timed, key=attrgetter("at", "label")):
        labels.setdefault(label.who, []).append(label)
    return labels


def _limit(peer_paces: list[float]) -> tuple[float, float] | None:
    """The usual pace of the others, and the pace below which a person is too fast."""
    if len(peer_paces) < OTHERS:
        return None
    logs = [math.log(max(pace, 1.0)) for pace in peer_paces]
    middle = median(logs)
    spread = 1.4826 * median(abs(log - middle) for log in logs)
    below = max(math.log(FACTOR), DEVIATIONS * spread)
    return math.exp(middle), math.exp(middle - below)
