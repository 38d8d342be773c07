"""Detects annotators who label far faster than the others in their project, or than anybody can read. Pure.

A label's pace is its active time divided by the number of steps it rates, because some people read everything before
they rate, and others rate while they read. A person's pace is the median over their latest labels, so that no break and
no easy solution decides. A person is too fast below one of two limits:

* the project's own: the median of other people's paces, less the larger of a factor and some robust standard deviations
  (1.4826 times the median absolute deviation, F. R. Hampel, J. Am. Stat. Assoc. 69, 1974), all in logarithms, because
  times are skewed to the right. It needs OTHERS people;
* FLOOR_MS per step, which also applies to a new project with few people.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

RECENT = 40  # latest labels of a person
LEAST = 12  # labels of a person below which they are not judged
OTHERS = 3
FACTOR, DEVIATIONS = 4.0, 3.5
FLOOR_MS = 500.0  # about two words at a usual reading speed


@dataclass(frozen=True)
class Timed:
    """A label by `who`, with its active milliseconds per rated step."""

    who: str
    at: datetime
    step_ms: float


@dataclass(frozen=True)
class Haste:
    """A person whose latest `labels` took `step_ms` per step; `usual_ms` is other people's median, None for too few."""

    who: str
    since: datetime
    until: datetime
    labels: int
    step_ms: float
    usual_ms: float | None


def find_haste(timed: Sequence[Timed], *, cleared_until: Mapping[str, datetime] | None = None) -> list[Haste]:
    """The people who are too fast, fastest first. Labels up to `cleared_until` were reviewed and do not count."""
    cleared = cleared_until or {}
    labels: dict[str, list[Timed]] = {}
    for label in sorted(timed, key=lambda label: label.at):
        labels.setdefault(label.who, []).append(label)
    latest = {annotator: own[-RECENT:] for annotator, own in labels.items() if len(own) >= LEAST}
    paces = {annotator: median(label.step_ms for label in own) for annotator, own in latest.items()}
    hasty_people = []
    for annotator, own in latest.items():
        fresh = [label for label in own if annotator not in cleared or label.at > cleared[annotator]]
        usual, limit = _limit([pace for other, pace in paces.items() if other != annotator])
        if len(fresh) < LEAST or (pace := median(label.step_ms for label in fresh)) >= limit:
            continue
        hasty = [label for label in fresh if label.step_ms < limit]
        hasty_people.append(Haste(annotator, hasty[0].at, hasty[-1].at, len(fresh), pace, usual))
    return sorted(hasty_people, key=lambda haste: (haste.step_ms, haste.who))


def _limit(peer_paces: list[float]) -> tuple[float | None, float]:
    """The usual pace of the others, and the pace below which a person is too fast."""
    if len(peer_paces) < OTHERS:
        return None, FLOOR_MS
    logs = [math.log(max(pace, 1.0)) for pace in peer_paces]
    middle = median(logs)
    spread = 1.4826 * median(abs(log - middle) for log in logs)
    below = max(math.log(FACTOR), DEVIATIONS * spread)
    return math.exp(middle), max(FLOOR_MS, math.exp(middle - below))
