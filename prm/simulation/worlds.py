"""The data of a simulation: labelled solutions for the pool, calibration and testing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from prm.errors import DataError
from prm.formats.trace_files import read_traces
from prm.labels import first_error, source_groups, step_labels
from prm.messages import Message
from prm.sandbox import WorldConfig, generate
from prm.traces import Trace
from prm.vocabulary import Split

SHARES: dict[Split, float] = {"pool": 0.6, "calibration": 0.15, "holdout": 0.25}
ENOUGH = 10  # erroneous and right solutions each, in every split


class Sizes(NamedTuple):
    """The numbers of solutions of a sandbox world in the pool, for calibration and for testing."""

    pool: int = 8000
    calibration: int = 400
    test: int = 1000


class Variant(NamedTuple):
    """A sandbox world; if `matched`, right and wrong solutions of a domain are equally long (`match_lengths`)."""

    config: WorldConfig
    matched: bool = False


WORLDS: dict[str, Variant] = {
    "sandbox": Variant(WorldConfig()),
    "rare-errors": Variant(WorldConfig(pool_errors=0.15)),  # one pool solution in ten is wrong
    "long-solutions": Variant(WorldConfig(aside=0.6)),
    "shifted-pool": Variant(WorldConfig(zipf=0.0, pool_zipf=1.5)),
    "skewed": Variant(WorldConfig(zipf=0.0, pool_zipf=1.5, pool_errors=0.15)),
    "matched-length": Variant(WorldConfig(), matched=True),
}


@dataclass(frozen=True)
class World:
    """Traces with known first errors. No source group is in two of the three parts.

    The pool may end with solutions without labels, which are never read but teach by their graded final answers.
    """

    name: str
    pool: list[Trace]
    calibration: list[Trace]
    test: list[Trace]

    def __post_init__(self) -> None:
        for part, traces in (("pool", self.pool), ("calibration", self.calibration), ("test", self.test)):
            errors = [first_error(trace) for trace in traces]
            wrong, right = sum(error is not None and error >= 0 for error in errors), errors.count(-1)
            if min(wrong, right) < ENOUGH:
                raise DataError(
                    Message(
                        "too_few_solutions_in_part", world=self.name, part=part, wrong=wrong, right=right, enough=ENOUGH
                    )
                )

    @property
    def teaches_by_grade(self) -> bool:
        """Whether the pool has right and wrong final answers, so that graded answers can teach."""
        return {True, False} <= {trace.final_answer_correct for trace in self.pool}


def sandbox_world(name: str, sizes: Sizes, *, seed: int) -> World:
    """A sandbox world by name; `seed` draws its problems. Raises DataError for an unknown name."""
    if name not in WORLDS:
        raise DataError(Message("unknown_world", name=name, known=", ".join(WORLDS)))
    variant = WORLDS[name]
    splits: tuple[tuple[Split, int], ...] = (
        ("pool", sizes.pool),
        ("calibration", sizes.calibration),
        ("holdout", sizes.test),
    )
    parts = [_drawn(variant, split, n, seed) for split, n in splits]
    return World(name, *parts)


def read_world(path: Path, *, seed: int) -> World:
    """The solutions of a file with a known first error, by split, and the pool's graded ones without labels.

    If a split is missing, all known ones are split again by source group, and no others teach. Raises DataError if
    there are too few.
    """
    if not path.is_file():
        raise DataError(Message("no_such_path", path=path))
    traces = [trace for trace in read_traces(path) if trace.steps]
    known = [trace for trace in traces if first_error(trace) is not None]
    by_split: dict[str, list[Trace]] = {split: [t for t in known if t.split == split] for split in SHARES}
    if not all(by_split.values()):
        by_split, traces = _part(known, seed), known
    unread = [t for t in traces if t.split == "pool" and not any(step_labels(t)) and first_error(t) is None]
    graded = [trace for trace in unread if trace.final_answer_correct is not None]
    return World(path.stem, by_split["pool"] + graded, by_split["calibration"], by_split["holdout"])


def match_lengths(traces: Sequence[Trace]) -> list[Trace]:
    """The first right and as many wrong solutions of each domain, number of steps and characters per step (to ten).

    Length is then uninformative.
    """
    seen: dict[tuple[str, int, int], tuple[list[int], list[int]]] = {}
    for place, trace in enumerate(traces):
        chars = sum(len(step.text) for step in trace.steps) // len(trace.steps)
        cell = (trace.domain, len(trace.steps), chars // 10)
        seen.setdefault(cell, ([], []))[first_error(trace) != -1].append(place)
    matched = sorted(
        place for right, wrong in seen.values() for pair in zip(right, wrong, strict=False) for place in pair
    )
    return [traces[place] for place in matched]


def _drawn(variant: Variant, split: Split, n: int, seed: int) -> list[Trace]:
    if not variant.matched:
        return list(generate(variant.config, split=split, n=n, seed=seed))
    return match_lengths(list(generate(variant.config, split=split, n=2 * n, seed=seed)))[:n]


def _part(traces: list[Trace], seed: int) -> dict[str, list[Trace]]:
    """Assign whole source groups to the splits at random, by their shares."""
    groups = source_groups(traces)
    names = sorted(set(groups))
    Random(seed).shuffle(names)
    split_of: dict[str, str] = {}
    start = 0.0
    for split, share in SHARES.items():
        end = start + share * len(names)
        split_of |= dict.fromkeys(names[round(start) : round(end)], split)
        start = end
    parts: dict[str, list[Trace]] = {split: [] for split in SHARES}
    for trace, group in zip(traces, groups, strict=True):
        parts[split_of[group]].append(trace)
    return parts
