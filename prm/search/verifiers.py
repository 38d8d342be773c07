"""Verifiers that score steps in a search: a model in this process, or one behind an address."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from prm.scores import StepScore, TraceScore
from prm.traces import Step, Trace

if TYPE_CHECKING:
    from prm.scoring import Scorer, Session


class State(Protocol):
    """A solution as far as it was read."""

    @property
    def scores(self) -> list[StepScore]: ...


class Verifier(Protocol):
    """Scores steps; a score below `threshold` is an error. Several threads may share a verifier."""

    @property
    def threshold(self) -> float: ...

    def score(self, traces: Sequence[Trace]) -> list[TraceScore]:
        """The scores of whole solutions, in order."""

    def begin(self, problem: str) -> State:
        """A solution without steps."""

    def extend(self, grown: Sequence[tuple[State, Step]]) -> list[State]:
        """Each state with one more step, scored; the states that were given stay as they are."""


class LocalVerifier:
    """A model in this process. It reuses its cache of a growing solution if the backbone can."""

    def __init__(self, scorer: "Scorer") -> None:
        from prm.scoring.keeping import can_keep

        self.scorer = scorer
        self._keeps = can_keep(scorer.backbone)
        self._lock = threading.Lock()

    @property
    def threshold(self) -> float:
        return self.scorer.threshold

    def score(self, traces: Sequence[Trace]) -> list[TraceScore]:
        with self._lock:
            return list(self.scorer.score(traces))

    def begin(self, problem: str) -> State:
        with self._lock:
            return self.scorer.session(problem) if self._keeps else Whole(Trace("", problem, []), [])

    def extend(self, grown: Sequence[tuple[State, Step]]) -> list[State]:
        if not self._keeps:
            return extend_whole(self, grown)
        with self._lock:
            return [_read_on(state, step) for state, step in grown]


@dataclass(frozen=True)
class Whole:
    """A state that is read from its beginning each time."""

    trace: Trace
    scores: list[StepScore]


def extend_whole(verifier: Verifier, grown: Sequence[tuple[State, Step]]) -> list[State]:
    """`extend` for a verifier that keeps nothing: all of them in one call."""
    traces = []
    for state, step in grown:
        assert isinstance(state, Whole)
        traces.append(Trace("", state.trace.problem, [*state.trace.steps, step]))
    scored = verifier.score(traces) if traces else []
    return [Whole(trace, steps_of_score(score)) for trace, score in zip(traces, scored, strict=True)]


def steps_of_score(score: TraceScore) -> list[StepScore]:
    """One record a step."""
    columns = zip(score.heads, score.mean, score.spread, strict=True)
    return [StepScore(heads, mean, spread) for heads, mean, spread in columns]


def _read_on(state: "State | Session", step: Step) -> State:
    from prm.scoring import Session

    assert isinstance(state, Session)
    twin = state.fork()
    twin.append(step)
    return twin
