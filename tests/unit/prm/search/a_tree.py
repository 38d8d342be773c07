"""A policy and a verifier small enough to know everything about: words drawn by seed, scores by hash."""

import hashlib
from collections.abc import Sequence
from random import Random

from prm.scores import StepScore, TraceScore
from prm.search.endpoint import Answers, Cost, Prefix, Sampled
from prm.search.verifiers import State, Whole, extend_whole
from prm.threshold import Threshold
from prm.traces import Step, Trace

END = "The answer is "


class TreePolicy:
    """Writes steps of one word out of `words`; each may be the last. Remembers how many prefixes it was given."""

    def __init__(self, words: int = 3, ends: float = 0.25) -> None:
        self.words, self.ends = words, ends
        self.asked: list[int] = []

    def sample(
        self,
        prefixes: Sequence[Prefix],
        *,
        n: int = 1,
        stop: Sequence[str] = (),
        seed: int = 0,
        max_tokens: int | None = None,
    ) -> Answers:
        self.asked.append(len(prefixes))
        samples = [
            [_cut(self._one(Random(f"{seed}/{number}/{k}"), prefix, bool(stop)), max_tokens) for k in range(n)]
            for number, prefix in enumerate(prefixes)
        ]
        written = sum(len(sample.text.split()) for some in samples for sample in some)
        read = sum(1 + 2 * len(prefix.steps) for prefix in prefixes)
        return Answers(samples, Cost(calls=len(prefixes), prompt_tokens=read, completion_tokens=written))

    def _one(self, rng: Random, prefix: Prefix, one_step: bool) -> Sampled:
        steps = []
        while True:
            if rng.random() < self.ends:
                steps.append(f"{END}{rng.randrange(3)}.")
                return Sampled("\n\n".join(steps), ended=True)
            steps.append(f"word {rng.randrange(self.words)}")
            if one_step:
                return Sampled(steps[0], ended=False)


def _cut(sample: Sampled, most: int | None) -> Sampled:
    words = sample.text.split()
    return sample if most is None or len(words) <= most else Sampled(" ".join(words[:most]), ended=False, cut=True)


class HashVerifier:
    """A step's score is a hash of the solution up to it. `seen` has every score that was asked for."""

    threshold = Threshold(0.5)

    def __init__(self) -> None:
        self.seen: dict[tuple[str, ...], float] = {}

    def score(self, traces: Sequence[Trace]) -> list[TraceScore]:
        return [TraceScore.of_steps(trace.id, self._steps(trace)) for trace in traces]

    def begin(self, problem: str) -> State:
        return Whole(Trace("", problem, []), [])

    def extend(self, grown: Sequence[tuple[State, Step]]) -> list[State]:
        return extend_whole(self, grown)

    def _steps(self, trace: Trace) -> list[StepScore]:
        return [self._one(tuple(step.text for step in trace.steps[: k + 1])) for k in range(len(trace.steps))]

    def _one(self, texts: tuple[str, ...]) -> StepScore:
        p = int.from_bytes(hashlib.sha256("/".join(texts).encode()).digest()[:4]) / 2**32
        self.seen[texts] = p
        return StepScore([p], p, None)
