"""Scores an answer while it is being written: each new step extends the cache of the earlier ones."""

import copy
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from prm.encoding import Encoded, tokenise
from prm.errors import ScoringError
from prm.messages import Message
from prm.scores import UNSCORED, StepScore, TraceScore
from prm.scoring.cached_text import CachedText, extend_text, has_reusable_cache, read_text
from prm.scoring.embedding import Familiarity
from prm.scoring.readers import LocalReader
from prm.scoring.verdicts import Judges
from prm.scoring.windows import Long, window_starts
from prm.traces import Step, Trace


class Session:
    """One solution that grows step by step; its scores equal those of the finished solution.

    A step costs its own tokens; if a window moves, the steps in it are read again. `close`, or the end of a `with`
    block, frees the cache.
    """

    def __init__(
        self,
        reader: LocalReader,
        judges: Judges,
        problem: str,
        long: Long,
        familiarity: Familiarity | None = None,
    ) -> None:
        if not has_reusable_cache(reader.backbone):
            raise ScoringError(Message("no_reusable_cache", name=reader.backbone.name))
        self._reader, self._judges, self._long, self._familiarity = reader, judges, long, familiarity
        [[ids]] = tokenise([Trace("", problem, [])], reader.tokenizer)
        layout = reader.layout
        self._problem = Encoded((*layout.start, *ids, *layout.problem_end), (), 0)
        self._steps: list[tuple[int, ...]] = []  # their ids, including separators
        self._scores: list[StepScore] = []
        self._marks: list[NDArray[np.float64]] = []  # of the scored steps
        self._closed = False
        self._start = 0  # the first step in `_cached`
        self._problem_only: CachedText | None = None  # the problem alone; None if no step fits beside it
        if len(self._problem.ids) < reader.context:
            self._problem_only, _ = read_text(reader.backbone, [self._problem], reader.features)
        self._cached = self._problem_only

    @property
    def scores(self) -> list[StepScore]:
        """One entry per step so far, including those that could not be scored."""
        return list(self._scores)

    @property
    def cache_bytes(self) -> int:
        """The memory of its cache, including parts shared with forks."""
        if self._cached is None:
            return 0
        layers: list[Any] = self._cached.cache.layers
        return sum(layer.keys.nbytes + layer.values.nbytes for layer in layers)

    def score(self, id: str = "") -> TraceScore:
        """The solution so far, as one record."""
        score = TraceScore.of_steps(id, self._scores)
        if self._familiarity is not None and self._marks:
            score.distance = self._familiarity.distance(np.concatenate(self._marks))
        return score

    def append(self, step: str | Step) -> StepScore:
        """Read and score the next step; its score is None if it does not fit the context."""
        if self._closed:
            raise ScoringError(Message("session_closed"))
        [[_, ids]] = tokenise([Trace("", "", [Step(step) if isinstance(step, str) else step])], self._reader.tokenizer)
        steps = [*self._steps, (*ids, *self._reader.layout.step_end)]
        lengths = [len(ids) + len(self._reader.layout.between) for ids in steps]
        start = window_starts(len(self._problem.ids), lengths, self._reader.context, self._long)[-1]
        score = UNSCORED if start is None else self._read(steps, start)
        self._steps = steps
        self._scores.append(score)
        return score

    def fork(self) -> Self:
        """A second session with the same steps, for example for a beam search. Both share the cached prefix."""
        twin = copy.copy(self)
        twin._scores, twin._marks = list(self._scores), list(self._marks)
        return twin

    def close(self) -> None:
        """Free the cache; the scores remain."""
        self._problem_only = self._cached = None
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _read(self, steps: list[tuple[int, ...]], start: int) -> StepScore:
        """Read the last step from the cache, or from the problem on if the window has moved."""
        cached, begin = (self._cached, len(steps) - 1) if start == self._start else (self._problem_only, start)
        assert cached is not None, "a step fits only if the problem does"
        fresh = _side_by_side(steps[begin:], self._reader.layout.between, leading=begin > start)
        self._cached, [rows] = extend_text(self._reader.backbone, cached, [fresh], self._reader.features)
        self._start = start
        [score] = self._judges.step_scores(rows[-1:], [start > 0])
        if self._familiarity is not None:
            self._marks.append(self._familiarity.marks(rows[-1:]))
        return score


def _side_by_side(steps: list[tuple[int, ...]], between: tuple[int, ...], *, leading: bool) -> Encoded:
    """The steps with the ids between them, and before the first one too if `leading`."""
    spans: list[tuple[int, int]] = []
    ids: list[int] = []
    for step in steps:
        ids += between if spans or leading else ()
        spans.append((len(ids), len(ids) + len(step)))
        ids += step
    return Encoded(tuple(ids), tuple(spans), len(steps))
