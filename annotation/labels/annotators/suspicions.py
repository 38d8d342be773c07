"""Brings the checks of annotators together: at most one suspicion a person, with the numbers behind it. Pure.

Each check has a share of the false alarms, so that all checks together stay below the project's limit. A check of pairs
of people shares its part among the pairs.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Any, Literal

from annotation.labels.annotators.alarm import Judged, find_alarms
from annotation.labels.annotators.copies import find_copies
from annotation.labels.annotators.evidence import Rise
from annotation.labels.annotators.guessing import find_guessing, speeds_of
from annotation.labels.annotators.haste import Timed, find_haste, find_unread
from annotation.labels.annotators.judged_labels import FirstErrorLabel, judge_by_overlap, of_people, references_of
from annotation.labels.annotators.patterns import PATTERNS, find_patterns

Check = Literal["overlap", "model", "reading", "copy", "pattern", "guessing", "pace"]
CHECKS = 6  # those with a threshold


@dataclass(frozen=True)
class Material:
    """What is known of a project's labels: the labels, their times and long comments, and what the model thinks."""

    labels: Sequence[FirstErrorLabel]
    timed: Sequence[Timed] = ()
    comments: Mapping[int, frozenset[str]] = field(default_factory=dict)
    by_model: Sequence[Judged] = ()


@dataclass(frozen=True)
class Suspicion:
    """Labels of `who` that a check suspects, with the numbers behind it."""

    who: str
    check: Check
    since: datetime
    until: datetime
    evidence: dict[str, Any]


def find_suspicions(
    material: Material, *, labels_between_false_alarms: int, cleared_until: Mapping[str, datetime]
) -> list[Suspicion]:
    """One suspicion a person: of the first check that suspects them, in the order of `Check`."""
    found: dict[str, Suspicion] = {}
    for suspicion in _all(material, labels_between_false_alarms * CHECKS, cleared_until):
        found.setdefault(suspicion.who, suspicion)
    return list(found.values())


def _all(material: Material, between: int, cleared: Mapping[str, datetime]) -> Iterator[Suspicion]:
    labels, threshold = material.labels, math.log(between)
    named: set[str] = set()
    by_overlap = judge_by_overlap(labels)
    for check, judged in (("overlap", by_overlap), ("model", material.by_model)):
        rest = [label for label in judged if label.who not in named]
        for who, rise in find_alarms(rest, labels_between_false_alarms=between, cleared_until=cleared).items():
            named.add(who)
            yield _suspicion(who, check, rise, {})  # type: ignore[arg-type]
    times = {one.label: one for one in material.timed}
    for who, rise in find_unread(material.timed, threshold=threshold, cleared_until=cleared).items():
        yield _suspicion(who, "reading", rise, _reading([times[label] for label in rise.labels]))
    references, people = references_of(labels), len(of_people(labels))
    pairs = threshold + math.log(max(people - 1, 1))
    for copying in find_copies(labels, material.comments, threshold=pairs, cleared_until=cleared):
        evidence = {"original": copying.original, "comments": copying.comments}
        yield _suspicion(copying.who, "copy", copying.rise, evidence)
    each = threshold + math.log(len(PATTERNS))
    for who, (pattern, rise) in find_patterns(labels, references, threshold=each, cleared_until=cleared).items():
        yield _suspicion(who, "pattern", rise, {"pattern": pattern})
    speeds = speeds_of(labels, references, material.timed)
    for who, rise in find_guessing(labels, references, speeds, threshold=threshold, cleared_until=cleared).items():
        paces = {"step_ms": speeds[who].step_ms, "usual_ms": speeds[who].usual_ms}
        pace = {name: value and round(value) for name, value in paces.items()}
        yield _suspicion(who, "guessing", rise, pace)
    for haste in find_haste(material.timed, cleared_until=cleared):
        if haste.who not in speeds or speeds[haste.who].note != "fast_right":
            pace = {"step_ms": round(haste.step_ms), "usual_ms": round(haste.usual_ms)}
            yield Suspicion(haste.who, "pace", haste.since, haste.until, {"labels": haste.labels, **pace})


def _suspicion(who: str, check: Check, rise: Rise, evidence: dict[str, Any]) -> Suspicion:
    numbers = {
        "judged": len(rise.labels),
        "differed": rise.hits,
        "expected": round(rise.expected, 1),
        "score": round(rise.score, 2),
        "threshold": round(rise.threshold, 2),
    }
    return Suspicion(who, check, rise.since, rise.until, numbers | evidence)


def _reading(timed: Sequence[Timed]) -> dict[str, Any]:
    return {
        "label_ms": round(median(one.ms for one in timed)),
        "characters": round(median(one.characters for one in timed)),
    }
