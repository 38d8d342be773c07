"""The terms of a reward, each a plain function of solutions; higher is better.

The terms resist known ways of gaming. An empty or repeated step counts as wrong. A solution without an answer gets no
credit for its steps, since otherwise never answering would pay. No term rises by adding steps. Brevity and novelty do
not count in a wrong solution.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

from prm.search.endpoint import Cost, Policy, Prefix
from prm.traces import Step

MIN_TEMPERATURE = 0.1
SHINGLE = 3  # words
REMEMBERED = 100_000  # values of prefixes, about 100 MB


def guarded(scores: Sequence[float | None], steps: Sequence[Step]) -> list[float]:
    """Step scores, 0 for a step that is empty, repeats an earlier one, or has no score."""
    seen: set[str] = set()
    rewards = []
    for score, step in zip(scores, steps, strict=True):
        words = " ".join(step.text.lower().split())
        rewards.append(0.0 if score is None or not words or words in seen else score)
        seen.add(words)
    return rewards


def min_form(scores: Sequence[float], temperature: float = MIN_TEMPERATURE) -> list[float]:
    """Each step's credit; their sum is the soft minimum of the scores: r_i exp(-r_i / T) / sum_j exp(-r_j / T).

    Cheng et al. 2025, "Stop Summation: Min-Form Credit Assignment Is All Process Reward Model Needs for Reasoning"
    (PURE), equation 6. Unlike a sum of scores, it does not grow with added steps.
    """
    if not scores:
        return []
    least = min(scores)
    weights = [math.exp((least - score) / temperature) for score in scores]
    return [score * weight / sum(weights) for score, weight in zip(scores, weights, strict=True)]


def efficiency(lengths: Sequence[int], right: Sequence[bool | None], groups: Sequence[str]) -> list[float]:
    """The excess length of each right solution, from 0 to -1 at twice the shortest length or more; 0 for the others.

    The shortest length is that of the right solutions to the same problem in the batch.
    """
    need: dict[str, int] = {}
    for length, is_right, group in zip(lengths, right, groups, strict=True):
        if is_right and length:
            need[group] = min(length, need.get(group, length))
    return [
        -min(1.0, length / need[group] - 1) if is_right and length else 0.0
        for length, is_right, group in zip(lengths, right, groups, strict=True)
    ]


def novelty(texts: Sequence[str], right: Sequence[bool | None], groups: Sequence[str]) -> list[float]:
    """The difference of each right solution from the most similar right one to the same problem, 0 to 1; else 0.

    One minus the greatest Jaccard similarity of their runs of three words, without numbers.
    """
    members: dict[str, list[int]] = defaultdict(list)
    for index, (is_right, group) in enumerate(zip(right, groups, strict=True)):
        if is_right:
            members[group].append(index)
    shingles = {index: _shingles(texts[index]) for some in members.values() for index in some}
    values = [0.0] * len(texts)
    for some in members.values():
        for index in some:
            own, others = shingles[index], [shingles[other] for other in some if other != index]
            values[index] = 1 - max((len(own & other) / len(own | other) for other in others), default=1.0)
    return values


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = [word for word in text.lower().split() if not any(sign.isdigit() for sign in word)]
    return frozenset(tuple(words[k : k + SHINGLE]) for k in range(max(1, len(words) - SHINGLE + 1)))


Grader = Callable[[str, str], bool | None]  # arguments: a solution's last step and the reference


class Prover:
    """Computes progress: the change in a prover's chance of the right answer with each step.

    Setlur et al. 2024, "Rewarding Progress: Scaling Automated Process Verifiers for LLM Reasoning": the advantage of a
    step under a prover policy, A(s_h, a_h) = Q(s_h, a_h) - Q(s_{h-1}, a_{h-1}) (equation 2), with Q from rollouts. The
    prover differs from the policy that learns, such as its best-of-K, whose Q is 1 - (1 - q)^K (section 4).

    The value of a prefix is estimated by `samples` rollouts and remembered. `best_of` K makes the prover the policy's
    best-of-K. `cost` is the cost of all rollouts. A rollout that cannot be graded counts as wrong.
    """

    def __init__(self, policy: Policy, grader: Grader, *, samples: int = 8, best_of: int = 4, seed: int = 0) -> None:
        self._policy, self._grader, self._samples, self._best_of = policy, grader, samples, best_of
        self._seed = seed
        self._known: dict[tuple[str, str, tuple[str, ...]], float] = {}
        self.cost = Cost()

    def advantages(
        self, problems: Sequence[str], steps: Sequence[Sequence[Step]], references: Sequence[str]
    ) -> list[list[float]]:
        """The advantage of each step of each solution, -1 to 1; they sum to Q at the end minus Q at the start."""
        wanted = [
            (problem, reference, tuple(path[:k]))
            for problem, path, reference in zip(problems, steps, references, strict=True)
            for k in range(len(path) + 1)
        ]
        self._roll_out(wanted)
        differences = []
        for problem, path, reference in zip(problems, steps, references, strict=True):
            values = [self._known[_key(problem, reference, path[:k])] for k in range(len(path) + 1)]
            differences.append([after - before for before, after in pairwise(values)])
        return differences

    def _roll_out(self, wanted: Sequence[tuple[str, str, tuple[Step, ...]]]) -> None:
        if len(self._known) > REMEMBERED:
            self._known.clear()
        fresh = {_key(*one): one for one in wanted if _key(*one) not in self._known}
        prefixes = [Prefix(problem, path) for problem, _, path in fresh.values()]
        answers = self._policy.sample(prefixes, n=self._samples, seed=self._seed)
        self.cost += answers.cost
        for (key, (_, reference, path)), samples in zip(fresh.items(), answers.samples, strict=True):
            right = 0
            for sample in samples:
                whole = [*path, *sample.steps]
                right += bool(whole and not sample.cut and self._grader(whole[-1].text, reference))
            self._known[key] = 1 - (1 - right / len(samples)) ** self._best_of


def _key(problem: str, reference: str, path: Sequence[Step]) -> tuple[str, str, tuple[str, ...]]:
    return problem, reference, tuple(step.text for step in path)


def discounted(advantages: Sequence[float], discount: float) -> float:
    """The discounted sum of advantages. Without a discount it telescopes, and adds nothing to the outcome."""
    return sum(value * discount**place for place, value in enumerate(advantages))
