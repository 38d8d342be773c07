"""The two arms of the live comparison: a common start, and labels of each lane of equal total time. Pure functions.

The start is the labels of generation 0, which is drawn at random, imported labels, and the calibration lane. An arm is
the start and its lane's labels from generation 1 on. In each generation both lanes contribute equal seconds, the larger
one a random part, so that both arms cover the same champions. Overlap, gold and adjudications are in neither arm.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec
import numpy as np

from annotation.labels.consensus.consensus import consensus_of
from annotation.loop.selection.reading_times import LONGEST_SECONDS
from annotation.models import Lane
from prm.formats.identity import solution_key
from prm.formats.record import Record, RecordAnnotation

ARMS = (Lane.ACQUISITION, Lane.CONTROL)
Key = tuple[int, str]  # the generation, and the key of the solution


@dataclass(frozen=True)
class Unit:
    """A solution, by its key, labelled in one lane of one generation, and the seconds that took."""

    generation: int
    solution: str
    lane: str
    seconds: float


@dataclass(frozen=True)
class Matched:
    """The chosen labels of each lane and their seconds; `generation` is the latest one."""

    chosen: dict[str, frozenset[Key]]
    seconds: dict[str, float]
    generation: int

    @property
    def fewest(self) -> int:
        return min(len(keys) for keys in self.chosen.values())


def units_of(records: Iterable[Record]) -> Iterator[Unit]:
    """Labels of both lanes from generation 1 on that have a logged time.

    A time above ten minutes includes a break and counts as ten, as in the fit of reading times.
    """
    for record in records:
        seconds: dict[tuple[int, str], float] = defaultdict(float)
        for annotation in record.annotations:
            if _of_an_arm(annotation) and annotation.total_ms:
                assert annotation.generation is not None
                spent = min(annotation.total_ms / 1000, LONGEST_SECONDS)
                seconds[annotation.generation, annotation.lane] += spent
        for (generation, lane), spent in seconds.items():
            yield Unit(generation, solution_key(record), lane, spent)


def match(units: Iterable[Unit], rng: np.random.Generator) -> Matched:
    """Choose labels at random, so that in each generation both lanes have equal seconds, to within one label."""
    by_place: dict[int, dict[str, list[Unit]]] = defaultdict(lambda: {lane: [] for lane in ARMS})
    for unit in sorted(units, key=lambda unit: (unit.generation, unit.solution)):
        by_place[unit.generation][unit.lane].append(unit)
    chosen: dict[str, set[Key]] = {lane: set() for lane in ARMS}
    seconds: dict[str, float] = dict.fromkeys(ARMS, 0.0)
    latest = 0
    for generation, lanes in sorted(by_place.items()):
        budget = min(sum(unit.seconds for unit in some) for some in lanes.values())
        for lane, some in lanes.items():
            for unit in _up_to(budget, some, rng):
                chosen[lane].add((generation, unit.solution))
                seconds[lane] += unit.seconds
                latest = generation
    return Matched({lane: frozenset(keys) for lane, keys in chosen.items()}, seconds, latest)


def arm(records: Iterable[Record], lane: str, keys: frozenset[Key]) -> Iterator[Record]:
    """The training records of a lane's arm: the start and the lane's chosen labels, with the consensus of these."""
    for record in records:
        solution = solution_key(record)
        labels = [
            label
            for label in record.annotations
            if in_start(record, label)
            or (_of_an_arm(label) and label.lane == lane and (label.generation, solution) in keys)
        ]
        if labels:
            yield msgspec.structs.replace(record, annotations=labels, consensus=consensus_of(labels))


def in_start(record: Record, annotation: RecordAnnotation) -> bool:
    """Whether a label is in the common start of both arms."""
    if annotation.adjudicates:
        return False
    return record.split == "calibration" or (annotation.generation or 0) == 0


def _of_an_arm(annotation: RecordAnnotation) -> bool:
    return annotation.lane in ARMS and (annotation.generation or 0) > 0 and not annotation.adjudicates


def _up_to(budget: float, units: list[Unit], rng: np.random.Generator) -> Iterator[Unit]:
    """Units in random order until one does not fit the budget."""
    seconds_left = budget * (1 + 1e-9)
    for index in rng.permutation(len(units)):
        unit = units[index]
        if unit.seconds > seconds_left:
            return
        seconds_left -= unit.seconds
        yield unit
