"""Long solutions made honestly: right solutions of several problems one after another, at most one part wrong.

The problem of a chain asks for all of its problems in order, and each part's first step says which problem it
solves, so a step is right in the chain where it was right alone. A chain ends with its wrong part: nothing after the
first error counts, and by causality nothing after it could change a score.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import msgspec

from prm.labels import first_error, problem_of, step_labels
from prm.traces import Step, StepLabel, Trace

HEADING = "Solve these problems one after another."


@dataclass(frozen=True)
class Chain:
    """A long trace, and for each of its steps the row of the trace it came from."""

    trace: Trace
    rows: list[int]


def make_chains(traces: Sequence[Trace], n_steps: int, count: int, rng: Random) -> Iterator[Chain]:
    """Chains of at least `n_steps` steps; every other one has a wrong part at a random place instead, and ends there.

    The right parts of a chain are of different problems. None come where the right solutions are too few for the
    length.
    """
    errors = [first_error(trace) for trace in traces]
    right = [row for row, error in enumerate(errors) if error == -1 and traces[row].steps]
    wrong = [row for row, error in enumerate(errors) if error is not None and error >= 0]
    for number in range(count):
        rows = _draw(traces, right, n_steps, rng)
        if sum(len(traces[row].steps) for row in rows) < n_steps:
            return
        if wrong and number % 2:
            rows[rng.randrange(len(rows)) :] = [rng.choice(wrong)]
        yield _chain(f"chain-{n_steps}-{number}", traces, rows)


def _draw(traces: Sequence[Trace], right: Sequence[int], n_steps: int, rng: Random) -> list[int]:
    chosen: list[int] = []
    seen: set[str] = set()
    length = 0
    for row in rng.sample(list(right), len(right)):
        if length >= n_steps:
            break
        if problem_of(traces[row]) not in seen:
            seen.add(problem_of(traces[row]))
            chosen.append(row)
            length += len(traces[row].steps)
    return chosen


def _chain(name: str, traces: Sequence[Trace], rows: Sequence[int]) -> Chain:
    problems = [HEADING]
    steps: list[Step] = []
    labels: list[StepLabel | None] = []
    owners: list[int] = []
    error = -1
    for part, row in enumerate(rows, start=1):
        trace = traces[row]
        problems.append(f"Problem {part}: {trace.problem}")
        first = msgspec.structs.replace(trace.steps[0], text=f"Problem {part}. {trace.steps[0].text}")
        here = first_error(trace)
        error = len(steps) + here if here is not None and here >= 0 else -1
        steps += [first, *trace.steps[1:]]
        labels += step_labels(trace)
        owners += [row] * len(trace.steps)
    return Chain(Trace(name, "\n\n".join(problems), steps, labels=labels, first_error=error), owners)
