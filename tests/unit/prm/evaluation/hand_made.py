"""Solutions and scores small enough to judge by hand at a threshold of one half."""

from prm.scores import TraceScore
from prm.traces import Step, Trace


def trace(name: str, n_steps: int, first_error: int | None, domain: str = "d", problem: str = "") -> Trace:
    return Trace(name, problem or name, [Step("s")] * n_steps, domain=domain, first_error=first_error)


def score(name: str, *mean: float | None) -> TraceScore:
    return TraceScore(name, [None if p is None else [p] for p in mean], list(mean), [None] * len(mean), None)


HAND_MADE = [
    (trace("exact", 3, 1), score("exact", 0.9, 0.2, 0.9)),
    (trace("early", 3, 1), score("early", 0.3, 0.2, 0.9)),
    (trace("missed", 2, 0), score("missed", 0.6, 0.2)),
    (trace("unscored", 2, 0), score("unscored", 0.1, None)),
    (trace("clean", 2, -1), score("clean", 0.9, 0.5)),
    (trace("alarm", 2, -1), score("alarm", 0.9, 0.4)),
]
