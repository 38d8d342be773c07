"""Verifiers that score steps in a search: a model in this process, or one on a server."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from prm.errors import PolicyError
from prm.messages import Message
from prm.scores import StepScore, TraceScore
from prm.servers import Server
from prm.threshold import Threshold
from prm.traces import Step, Trace

if TYPE_CHECKING:
    from prm.scoring import Scorer, Session


class State(Protocol):
    """The steps of a solution so far, scored."""

    @property
    def scores(self) -> list[StepScore]: ...


class Verifier(Protocol):
    """Scores steps; a score below `threshold` is an error. Several threads may share a verifier."""

    @property
    def threshold(self) -> Threshold: ...

    def score(self, traces: Sequence[Trace]) -> list[TraceScore]:
        """The scores of whole solutions, in order."""

    def begin(self, problem: str) -> State:
        """The state of a solution without steps."""

    def extend(self, grown: Sequence[tuple[State, Step]]) -> list[State]:
        """Each state with one more step, scored; the original states are unchanged."""


class LocalVerifier:
    """A model in this process. It reuses the cache of a growing solution if the backbone supports that."""

    def __init__(self, scorer: "Scorer") -> None:
        from prm.scoring.cached_text import has_reusable_cache

        self.scorer = scorer
        self._has_cache = has_reusable_cache(scorer.backbone)
        self._lock = threading.Lock()

    @property
    def threshold(self) -> Threshold:
        return self.scorer.threshold

    def score(self, traces: Sequence[Trace]) -> list[TraceScore]:
        with self._lock:
            return list(self.scorer.score(traces))

    def begin(self, problem: str) -> State:
        with self._lock:
            return self.scorer.session(problem) if self._has_cache else Whole(Trace("", problem, []), [])

    def extend(self, grown: Sequence[tuple[State, Step]]) -> list[State]:
        if not self._has_cache:
            return extend_whole(self, grown)
        with self._lock:
            return [_extended(state, step) for state, step in grown]


@dataclass(frozen=True)
class Whole:
    """A state that is scored from the beginning each time."""

    trace: Trace
    scores: list[StepScore]


def extend_whole(verifier: Verifier, grown: Sequence[tuple[State, Step]]) -> list[State]:
    """`extend` for a verifier without a cache, in one call of `score`."""
    traces = []
    for state, step in grown:
        assert isinstance(state, Whole)
        traces.append(Trace("", state.trace.problem, [*state.trace.steps, step]))
    scored = verifier.score(traces) if traces else []
    return [
        Whole(trace, [StepScore(*each) for each in zip(score.heads, score.mean, score.spread, strict=True)])
        for trace, score in zip(traces, scored, strict=True)
    ]


def _extended(state: "State | Session", step: Step) -> State:
    from prm.scoring import Session

    assert isinstance(state, Session)
    twin = state.fork()
    twin.append(step)
    return twin


PATH = "/api/v1/score"
AT_ONCE = 64  # maximum number of solutions in a request
PROBE = Trace("", "What is 1 + 1?", [Step("1 + 1 = 2")])


class _Step(msgspec.Struct):
    mean: float | None
    spread: float | None


class _Solution(msgspec.Struct):
    steps: list[_Step]


class _Model(msgspec.Struct):
    threshold: Threshold


class _Answer(msgspec.Struct):
    model: _Model
    results: list[_Solution]


class ServiceVerifier:
    """The champion that a Stepmark server serves: `POST /api/v1/score`.

    `url` is the server's, without a path; `project` a slug; `token` an API token of a member.

    Raises PolicyError if the server rejects a request. A busy server (429) is asked again after its Retry-After.
    """

    def __init__(
        self, url: str, *, project: str, token: str | None = None, domain: str = "", concurrency: int = 4
    ) -> None:
        self._server = Server(url, api_key=token, concurrency=concurrency)
        self._project, self._domain = project, domain
        self._threshold: Threshold | None = None

    @property
    def threshold(self) -> Threshold:
        """The threshold of the serving model, updated with the scores of each response."""
        if self._threshold is None:
            self.score([PROBE])
        assert self._threshold is not None, "every answer names its model's threshold"
        return self._threshold

    def score(self, traces: Sequence[Trace]) -> list[TraceScore]:
        with_steps = [trace for trace in traces if trace.steps]
        parts = [with_steps[start : start + AT_ONCE] for start in range(0, len(with_steps), AT_ONCE)]
        steps_read = (steps for part in self._server.each(self._ask, parts) for steps in part)
        return [TraceScore.of_steps(trace.id, next(steps_read) if trace.steps else []) for trace in traces]

    def begin(self, problem: str) -> State:
        return Whole(Trace("", problem, []), [])

    def extend(self, grown: Sequence[tuple[State, Step]]) -> list[State]:
        return extend_whole(self, grown)

    def _ask(self, traces: Sequence[Trace]) -> list[list[StepScore]]:
        question: dict[str, Any] = {
            "project": self._project,
            "domain": self._domain,
            "solutions": [{"problem": trace.problem, "steps": trace.steps} for trace in traces],
        }
        answer = self._server.ask(PATH, _Answer, question)
        if [len(one.steps) for one in answer.results] != [len(trace.steps) for trace in traces]:
            raise PolicyError(Message("other_solutions_answered", url=self._server.url, path=PATH))
        self._threshold = answer.model.threshold
        return [
            [StepScore(None if step.mean is None else [step.mean], step.mean, step.spread) for step in one.steps]
            for one in answer.results
        ]
