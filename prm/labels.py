"""From labels to what is learned and measured: step targets, first errors, groups. No torch."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from prm.traces import Step, StepLabel, Trace
from prm.vocabulary import NeutralPolicy

GOOD = StepLabel(good=1.0, neutral=0.0, bad=0.0)
BAD = StepLabel(good=0.0, neutral=0.0, bad=1.0)


class Target(NamedTuple):
    """p(the step is not an error), and how much the step counts (0 for none)."""

    good: float
    weight: float


def step_labels(trace: Trace) -> list[StepLabel | None]:
    """The trace's labels; where only `first_error` is known, good up to it, bad at it, none after it."""
    if trace.labels is not None:
        return trace.labels
    if trace.first_error is None:
        return [None] * len(trace.steps)
    end = len(trace.steps) if trace.first_error < 0 else trace.first_error
    return [GOOD if k < end else BAD if k == end else None for k in range(len(trace.steps))]


def step_target(label: StepLabel | None, neutral: NeutralPolicy) -> Target:
    """A step's target under the neutral policy; an unlabelled step carries no weight."""
    if label is None:
        return Target(0.0, 0.0)
    if neutral == "positive":
        return Target(label.good + label.neutral, label.weight)
    if neutral == "negative":
        return Target(label.good, label.weight)
    decided = label.good + label.bad
    return Target(label.good / decided, label.weight * decided) if decided > 0 else Target(0.0, 0.0)


def without_labels(trace: Trace, steps: list[Step]) -> Trace:
    """The trace with other steps, and without the labels, which are the original's."""
    return msgspec.structs.replace(trace, steps=steps, labels=None, first_error=None)


def first_error(trace: Trace) -> int | None:
    """Position of the first bad step, -1 for none, None where the labels do not settle it.

    Read from the labels where the field is unset: the first step rated bad counts only if every
    step before it is rated, and "none" only if every step is.
    """
    if trace.first_error is not None:
        return trace.first_error
    if trace.labels is None:
        return None
    for position, label in enumerate(trace.labels):
        if label is None:
            return None
        if label.rating == -1:
            return position
    return -1


def problem_of(trace: Trace) -> str:
    """What tells problems apart: the id, else the text."""
    return trace.problem_id or trace.problem


def group_of(trace: Trace) -> str:
    """What must not be torn between fitting and checking: the source group, else the problem."""
    return trace.source_group or problem_of(trace)


def source_groups(traces: Sequence[Trace]) -> list[str]:
    """A group's name for each trace; traces of one group, one problem id or one problem text share a name.

    Also where they do so only by way of others, so a problem that came in twice under two ids is torn nowhere.
    """
    above: dict[tuple[str, str], tuple[str, str]] = {}

    def top(key: tuple[str, str]) -> tuple[str, str]:
        while above.setdefault(key, key) != key:
            above[key] = key = above[above[key]]  # paths halve as they are walked
        return key

    keys = [("group", group_of(trace)) for trace in traces]
    for trace, key in zip(traces, keys, strict=True):
        for same in (("problem", problem_of(trace)), ("text", trace.problem)):
            above[top(same)] = top(key)
    names: dict[tuple[str, str], str] = {}
    return [names.setdefault(top(key), group_of(trace)) for trace, key in zip(traces, keys, strict=True)]
