"""The champion that a Stepmark server serves, as a verifier: `POST /api/v1/score`."""

from collections.abc import Sequence
from typing import Any

import msgspec

from prm.errors import PolicyError
from prm.messages import Message
from prm.scores import StepScore, TraceScore
from prm.search.asking import Server
from prm.search.verifiers import State, Whole, extend_whole
from prm.traces import Step, Trace

PATH = "/api/v1/score"
AT_ONCE = 64  # solutions in a request, the most the server takes
PROBE = Trace("", "What is 1 + 1?", [Step("1 + 1 = 2")])


class _Step(msgspec.Struct):
    mean: float | None
    spread: float | None


class _Solution(msgspec.Struct):
    steps: list[_Step]


class _Model(msgspec.Struct):
    threshold: float


class _Answer(msgspec.Struct):
    model: _Model
    results: list[_Solution]


class ServiceVerifier:
    """`url` is the server's, without a path; `project` a slug; `token` an API token of a member.

    Raises PolicyError where the server refuses. A busy one (429) is asked again when it says.
    """

    def __init__(
        self, url: str, *, project: str, token: str | None = None, domain: str = "", concurrency: int = 4
    ) -> None:
        self._server = Server(url, api_key=token, concurrency=concurrency)
        self._project, self._domain = project, domain
        self._threshold: float | None = None

    @property
    def threshold(self) -> float:
        """The serving model's own; a model that takes its place brings its own with the next scores."""
        if self._threshold is None:
            self.score([PROBE])
        assert self._threshold is not None, "every answer names its model's threshold"
        return self._threshold

    def score(self, traces: Sequence[Trace]) -> list[TraceScore]:
        asked = [trace for trace in traces if trace.steps]
        parts = [asked[start : start + AT_ONCE] for start in range(0, len(asked), AT_ONCE)]
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
        answer = self._server.post(PATH, question, _Answer)
        if [len(one.steps) for one in answer.results] != [len(trace.steps) for trace in traces]:
            raise PolicyError(Message("other_solutions_answered", url=self._server.url, path=PATH))
        self._threshold = answer.model.threshold
        return [[_step_score(step) for step in one.steps] for one in answer.results]


def _step_score(step: _Step) -> StepScore:
    return StepScore(None if step.mean is None else [step.mean], step.mean, step.spread)
