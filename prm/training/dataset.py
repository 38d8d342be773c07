"""Labelled traces made ready for training: checked, parted by source group, cut after their last label."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from prm.config import TrainConfig
from prm.errors import DataError
from prm.labels import first_error, group_of, step_labels, step_target
from prm.traces import Trace, read_traces

ENOUGH_HELD = 10  # erroneous and correct solutions each, below which a threshold would be noise


@dataclass(frozen=True)
class TrainingData:
    """`fit` is learned from; `held` stops training early and fits temperature and threshold.

    `held_from` says where `held` came from: "calibration", "validation" or "none".
    """

    fit: list[Trace]
    held: list[Trace]
    held_from: str


def read_training_data(path: Path, config: TrainConfig) -> TrainingData:
    """Read, check and part the labelled traces of a JSONL file.

    Raises DataError for a holdout trace, and where there is nothing to learn from.
    """
    labelled = [trace for trace in _without_holdout(path) if _weighted(trace, config)]
    pool = [trace for trace in labelled if trace.split == "pool"]
    held = [trace for trace in labelled if trace.split == "calibration"]
    if not pool:
        raise DataError(f"{path}: no solution of the pool has a labelled step")
    if not _has_bad(pool, config):
        raise DataError(f"{path}: no step is labelled bad, so there is nothing to tell apart; label some errors first")
    if _enough(held):
        return TrainingData(pool, held, "calibration")
    fit, validation = _set_aside(pool, config)
    if not validation or not _has_bad(fit, config):
        return TrainingData(pool, held, "none")
    return TrainingData(fit, held + validation, "validation")


def supervised_part(trace: Trace) -> Trace:
    """The trace up to its last labelled step: what comes later cannot change how that step is scored."""
    labels = step_labels(trace)
    end = 1 + max((k for k, label in enumerate(labels) if label is not None), default=-1)
    return msgspec.structs.replace(trace, steps=trace.steps[:end], labels=labels[:end], first_error=None)


def _without_holdout(path: Path) -> Iterable[Trace]:
    try:
        for trace in read_traces(path):
            if trace.split == "holdout":
                raise DataError(f"{path}: trace {trace.id!r} is of the holdout split, which is never trained on")
            yield trace
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error


def _weighted(trace: Trace, config: TrainConfig) -> bool:
    return any(step_target(label, config.neutral).weight > 0 for label in step_labels(trace))


def _has_bad(traces: list[Trace], config: TrainConfig) -> bool:
    targets = (step_target(label, config.neutral) for trace in traces for label in step_labels(trace))
    return any(target.weight > 0 and target.good < 0.5 for target in targets)


def _enough(held: list[Trace]) -> bool:
    errors = [first_error(trace) for trace in held]
    wrong = sum(error is not None and error >= 0 for error in errors)
    return wrong >= ENOUGH_HELD and errors.count(-1) >= ENOUGH_HELD


def _set_aside(pool: list[Trace], config: TrainConfig) -> tuple[list[Trace], list[Trace]]:
    """Part whole source groups at random until the share is reached; too few groups set none aside."""
    groups = sorted({group_of(trace) for trace in pool})
    random.Random(config.seed).shuffle(groups)
    wanted = config.validation_share * len(pool)
    if len(groups) < 5 or wanted < 2:
        return pool, []
    aside: set[str] = set()
    sizes = dict.fromkeys(groups, 0)
    for trace in pool:
        sizes[group_of(trace)] += 1
    for group in groups:
        if sum(sizes[name] for name in aside) >= wanted:
            break
        if sizes[group] <= 2 * wanted:
            aside.add(group)
    return [t for t in pool if group_of(t) not in aside], [t for t in pool if group_of(t) in aside]
