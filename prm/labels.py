"""Derives step targets, first errors and groups from labels. No torch."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from prm.traces import Step, StepLabel, Trace
from prm.vocabulary import NeutralPolicy

GOOD = StepLabel(good=1.0, neutral=0.0, bad=0.0)
BAD = StepLabel(good=0.0, neutral=0.0, bad=1.0)
LEFT_TO_MEASURE = 5  # of a benchmark's problems, one in so many


class Target(NamedTuple):
    """p(the step is not an error) with its weight (0 for none)."""

    good: float
    weight: float


def step_labels(trace: Trace) -> list[StepLabel | None]:
    """The trace's labels; if only `first_error` is known, good before it, bad at it, none after it."""
    if trace.labels is not None:
        return trace.labels
    if trace.first_error is None:
        return [None] * len(trace.steps)
    end = len(trace.steps) if trace.first_error < 0 else trace.first_error
    return [GOOD if k < end else BAD if k == end else None for k in range(len(trace.steps))]


def step_target(label: StepLabel | None, neutral: NeutralPolicy) -> Target:
    """A step's target under the neutral policy; an unlabelled step has weight 0."""
    if label is None:
        return Target(0.0, 0.0)
    if neutral == "positive":
        return Target(label.good + label.neutral, label.weight)
    if neutral == "negative":
        return Target(label.good, label.weight)
    decided = label.good + label.bad
    return Target(label.good / decided, label.weight * decided) if decided > 0 else Target(0.0, 0.0)


def without_labels(trace: Trace, steps: list[Step]) -> Trace:
    """The trace with other steps and without labels."""
    return msgspec.structs.replace(trace, steps=steps, labels=None, first_error=None)


def first_error(trace: Trace) -> int | None:
    """Position of the first bad step, -1 for none, None if unknown.

    If the field is unset, it follows from the labels: the first bad step counts only if every earlier step is rated,
    and "none" only if every step is. Nobody is expected to rate an observation.
    """
    if trace.first_error is not None:
        return trace.first_error
    if not trace.labels or not any(trace.labels):
        return None
    for position, (step, label) in enumerate(zip(trace.steps, trace.labels, strict=True)):
        if label is None and step.kind != "observation":
            return None
        if label is not None and label.rating == -1:
            return position
    return -1


def problem_of(trace: Trace) -> str:
    """The identity of a problem: its id, else its text."""
    return trace.problem_id or trace.problem


def group_of(trace: Trace) -> str:
    """The group that a split must not divide: the source group, else the problem."""
    return trace.source_group or problem_of(trace)


def is_left_to_measure(trace: Trace) -> bool:
    """Whether training on a published benchmark leaves the trace's problem out: a fifth, by a hash of the problem."""
    digest = hashlib.sha256(problem_of(trace).encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:8]) % LEFT_TO_MEASURE == 0


def source_groups(traces: Sequence[Trace]) -> list[str]:
    """A group's name for each trace; traces with the same group, problem id or problem text share a name.

    So do traces that are connected through others: a problem with two ids is in one group.
    """
    above: dict[tuple[str, str], tuple[str, str]] = {}

    def top(key: tuple[str, str]) -> tuple[str, str]:
        while above.setdefault(key, key) != key:
            above[key] = key = above[above[key]]  # path halving
        return key

    keys = [("group", group_of(trace)) for trace in traces]
    for trace, key in zip(traces, keys, strict=True):
        for same in (("problem", problem_of(trace)), ("text", trace.problem)):
            above[top(same)] = top(key)
    names: dict[tuple[str, str], str] = {}
    return [names.setdefault(top(key), group_of(trace)) for trace, key in zip(traces, keys, strict=True)]
