"""Sets of labelled solutions as tables with one row per solution and one column per step. numpy only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from prm.errors import DataError
from prm.evaluation.columns import Solutions
from prm.formats.trace_files import read_traces
from prm.labels import first_error, problem_of, source_groups
from prm.messages import Message
from prm.threshold import Threshold
from prm.traces import Trace

Array = NDArray[np.float64]
Places = NDArray[np.int64]
ENOUGH = 20  # right and wrong solutions, and source groups; a smaller set is only measured on


@dataclass(frozen=True)
class LabelledSet:
    """Solutions with a known first error, -1 for none; `groups` names the source group of each."""

    name: str
    traces: list[Trace]
    errors: NDArray[np.int64]
    groups: list[str]

    @property
    def kinds(self) -> tuple[int, int]:
        """The numbers of its right and of its wrong solutions."""
        wrong = int((self.errors >= 0).sum())
        return len(self.errors) - wrong, wrong

    @property
    def teaches(self) -> bool:
        """Whether it has enough right and wrong solutions, and enough source groups for its folds, to learn from."""
        return min(*self.kinds, len(set(self.groups))) >= ENOUGH

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """The number of steps of each solution."""
        return np.array([len(trace.steps) for trace in self.traces])

    @cached_property
    def index(self) -> Array:
        """Each step's position from 0, [solutions, steps]; nan after the last step, as in every such table."""
        return self.in_rows(np.concatenate([np.arange(n) for n in self.steps]), self.steps)

    @cached_property
    def chars(self) -> Array:
        """Each step's number of characters, [solutions, steps]."""
        return self.in_rows([len(step.text) for trace in self.traces for step in trace.steps], self.steps)

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """The steps up to the first error, which metrics of steps count, [solutions, steps]."""
        last = np.where(self.errors < 0, self.steps - 1, self.errors)
        return np.arange(self.steps.max()) <= last[:, None]

    @cached_property
    def wrong(self) -> Array:
        """1 at each first error, else 0, [solutions, steps]."""
        return (np.arange(self.steps.max()) == self.errors[:, None]).astype(float)

    @cached_property
    def solutions(self) -> Solutions:
        """The columns that ProcessBench's F1 is computed from, with no prediction yet."""
        problems: dict[str, int] = {}
        domains = sorted({trace.domain for trace in self.traces})
        n = len(self.traces)
        return Solutions(
            problem=np.array([problems.setdefault(problem_of(trace), len(problems)) for trace in self.traces]),
            domain=np.array([domains.index(trace.domain) for trace in self.traces]),
            length=self.steps,
            erroneous=(self.errors >= 0).astype(float),
            exact=np.zeros(n),
            unscored=np.zeros(n, dtype=np.int64),
            settled=np.ones(n, dtype=bool),
            domains=domains,
            generators=[trace.generator for trace in self.traces],
            n_problems=len(problems),
        )

    def thresholds(self, threshold: Threshold) -> Array:
        """The threshold of each solution, [solutions]."""
        return np.array([threshold.at(n) for n in self.steps])

    def judged(self, scores: Array, thresholds: Array | float) -> Solutions:
        """The columns with `exact`: whether the first step below the threshold (of each solution) is the first error.

        A solution with an unscored step is a miss.
        """
        unscored = np.isnan(scores).sum(axis=1) > scores.shape[1] - self.steps
        return replace(
            self.solutions, exact=((first_below(scores, thresholds) == self.errors) & ~unscored).astype(float)
        )

    def in_rows(self, values: Sequence[float] | NDArray, counts: NDArray[np.int64]) -> Array:
        """Consecutive values, `counts` of them for each solution, as a table [solutions, steps]."""
        table = np.full((len(self.traces), int(self.steps.max())), np.nan)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        for row, (start, end) in enumerate(pairwise(bounds)):
            table[row, : end - start] = values[start:end]
        return table

    def folds(self, n: int, seed: int) -> list[Places]:
        """The solutions in `n` parts that divide no source group."""
        fold = {name: place % n for place, name in enumerate(shuffled(set(self.groups), seed))}
        own = np.array([fold[group] for group in self.groups])
        return [np.flatnonzero(own == k) for k in range(n)]

    def draw(self, n: int, seed: int) -> tuple[Places, NDArray[np.bool_]]:
        """`n` solutions of random groups, and [solutions] whether each belongs to none of their groups."""
        place = {name: place for place, name in enumerate(shuffled(set(self.groups), seed))}
        order = np.argsort([place[group] for group in self.groups], kind="stable")[:n]
        drawn = {self.groups[row] for row in order}
        return order, np.array([group not in drawn for group in self.groups])


def first_below(scores: Array, thresholds: Array | float) -> NDArray[np.int64]:
    """The first step of each solution below its threshold, -1 for none."""
    below = scores < np.reshape(thresholds, (-1, 1))  # nan is not below
    return np.where(below.any(axis=1), below.argmax(axis=1), -1)


def read_sets(files: Sequence[Path], most: int | None, seed: int) -> list[LabelledSet]:
    """A set for each file, with at most `most` solutions of randomly chosen source groups.

    Sets are named after their files, and after their folders too if names repeat. Raises DataError if a file has no
    labelled solution, or if two sets have one name.
    """
    stems = [path.stem for path in files]
    names = [
        f"{path.absolute().parent.name}/{path.stem}" if stems.count(path.stem) > 1 else path.stem for path in files
    ]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise DataError(Message("sets_with_one_name", name=repeated[0]))
    return [read_set(name, path, most, seed) for name, path in zip(names, files, strict=True)]


def read_set(name: str, path: Path, most: int | None, seed: int) -> LabelledSet:
    """The solutions of a file with a known first error, or `most` of them."""
    known = [trace for trace in read_traces(path) if trace.steps and first_error(trace) is not None]
    if not known:
        raise DataError(Message("no_known_first_error", path=path))
    groups = source_groups(known)
    place = {group: place for place, group in enumerate(shuffled(set(groups), seed))}
    rows = sorted(range(len(known)), key=lambda row: place[groups[row]])[:most]
    traces = [known[row] for row in rows]
    errors = np.array([first_error(trace) for trace in traces], dtype=np.int64)
    return LabelledSet(name, traces, errors, [groups[row] for row in rows])


def shuffled(names: Iterable[str], seed: int) -> list[str]:
    """The names in a random order that depends only on them and the seed."""
    order = sorted(names)
    Random(seed).shuffle(order)
    return order
