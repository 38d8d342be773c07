"""A loaded model: scores whole solutions and growing ones, and returns plain states."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import msgspec

from annotation.core.errors import DomainError
from annotation.loop.gateway.scoring import loaded_scorer
from annotation.models import ModelVersion
from prm.encoding import tokenise
from prm.messages import Message
from prm.scores import Aggregate, TraceScore
from prm.traces import Step, Trace
from prm.trust import Scored, judge

if TYPE_CHECKING:
    from prm.scoring import Session

MOST_THREADS, CPU_BATCH = 2, 16


def prepare_thread() -> tuple[int, int]:
    """Limit the cores of a thread that uses a model; returns how many such threads fit, and solutions at a time.

    On a CPU two threads with half of the cores each score more than one with all of them: small layers leave most of
    the second half idle. Batches of CPU_BATCH are as fast as larger ones there, and both threads get one. A GPU is
    fastest with one thread and all that waits.
    """
    import torch

    from prm.processes import use_half_the_cores

    use_half_the_cores()
    return (1, 1_000_000) if torch.cuda.is_available() else (MOST_THREADS, CPU_BATCH)


class Text(msgspec.Struct, frozen=True, array_like=True):
    """A solution, possibly unfinished. `steps` are (text, kind); the first `known` ones were scored before."""

    problem: str
    steps: tuple[tuple[str, str], ...]
    known: int = 0


class ServingModel:
    """One loaded version. Scoring is thread-safe; a lock guards the sessions' cached prefixes."""

    def __init__(self, version: ModelVersion, *, cache_bytes: int) -> None:
        """Load the version, or share pool scoring's copy. Raises DomainError (`model_unusable`)."""
        self._scorer = loaded_scorer(version)
        self._prefixes = _Prefixes(cache_bytes)
        assert self._scorer.manifest is not None, "a registered version has a manifest"
        self.trust = self._scorer.manifest.trust
        self.threshold = self._scorer.threshold

    def score(self, texts: Sequence[Text], aggregates: Sequence[str]) -> list[Scored]:
        """Score whole solutions in packed passes; `aggregates` names the solution score of each."""
        traces = [trace_of_text(text) for text in texts]
        scores = self._scorer.score(traces)
        return [self._judged(score, by) for score, by in zip(scores, aggregates, strict=True)]

    def append(self, text: Text, aggregate: str) -> Scored:
        """Score the steps after the `known` ones from their cached state, or all steps if that is not cached.

        The answer covers all steps. The cache key is the text, so forks share the state.
        """
        session = self._prefixes.longest(text)
        if session is None:
            session = self._scorer.session(text.problem)
        for position in range(len(session.scores), len(text.steps)):
            session.append(Step(*text.steps[position]))
        self._prefixes.store(text, session)
        return self._judged(session.score(), aggregate)

    def states(self, ids: Sequence[Sequence[int]]) -> list[bytes]:
        """The last layer's states of token ids, little-endian float32 as vLLM's `token_embed` returns them.

        Raises DomainError (`no_plain_states` for a tuned backbone, `beyond_context`, `unknown_token`).
        """
        from prm.features import last_states

        scorer = self._scorer
        if scorer.manifest is None or scorer.manifest.config.lane != "heads":
            raise DomainError(Message("no_plain_states"))
        longest, vocabulary = scorer.reader.context, len(scorer.reader.tokenizer)
        for text in ids:
            if len(text) > longest:
                raise DomainError(Message("text_beyond_context", n=len(text), longest=longest), code="beyond_context")
            if any(token >= vocabulary for token in text):
                raise DomainError(Message("unknown_token", highest=vocabulary - 1))
        return last_states(scorer.backbone, ids, scorer.local.token_budget)

    @property
    def width(self) -> int:
        """The number of values in a state of the backbone."""
        return self._scorer.backbone.width

    def _judged(self, score: TraceScore, aggregate: str) -> Scored:
        by: Aggregate = aggregate  # type: ignore[assignment]
        return judge(score, by, self.threshold, self.trust)

    def count_tokens(self, texts: Sequence[Text]) -> int:
        """Tokens of problems and steps, without separators."""
        pieces = tokenise([trace_of_text(text) for text in texts], self._scorer.reader.tokenizer)
        return sum(len(piece) for token_ids in pieces for piece in token_ids)


class _Prefixes:
    """An LRU cache of the states of growing solutions, by text."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._sessions: OrderedDict[tuple[str, tuple[tuple[str, str], ...]], Session] = OrderedDict()
        self._lock = Lock()

    def longest(self, text: Text) -> "Session | None":
        """A copy of the session with the longest cached prefix of the text; None if no prefix is cached."""
        with self._lock:
            for length in range(len(text.steps) - 1, -1, -1):
                key = (text.problem, text.steps[:length])
                if key in self._sessions:
                    self._sessions.move_to_end(key)
                    return self._sessions[key].fork()
        return None

    def store(self, text: Text, session: "Session") -> None:
        """Cache a session, and drop the least recently used ones beyond the size limit."""
        with self._lock:
            self._sessions[text.problem, text.steps] = session
            self._sessions.move_to_end((text.problem, text.steps))
            total = sum(prefix.cache_bytes for prefix in self._sessions.values())
            while total > self._most and len(self._sessions) > 1:
                _, dropped = self._sessions.popitem(last=False)
                total -= dropped.cache_bytes


def trace_of_text(text: Text) -> Trace:
    return Trace("", text.problem, [Step(*step) for step in text.steps])
