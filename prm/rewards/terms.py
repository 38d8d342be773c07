"""The terms of a reward, each a plain function of solutions; higher is better.

What is known to be gamed is guarded against here: a step that is empty or says again what an earlier one said counts
as wrong; a solution without an answer gets nothing for its steps (else the best solution is the one that never
commits itself); no term rises by adding steps; being short or different is worth nothing in a wrong solution.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

from prm.traces import Step

MIN_TEMPERATURE = 0.1
SHINGLE = 3  # words


def guarded(scores: Sequence[float | None], steps: Sequence[Step]) -> list[float]:
    """Step scores with 0 where a step is empty, repeats an earlier one, or was not scored."""
    seen: set[str] = set()
    rewards = []
    for score, step in zip(scores, steps, strict=True):
        words = " ".join(step.text.lower().split())
        rewards.append(0.0 if score is None or not words or words in seen else score)
        seen.add(words)
    return rewards


def min_form(scores: Sequence[float], temperature: float = MIN_TEMPERATURE) -> list[float]:
    """Each step's credit, so that their sum is the (soft) least score: r_i exp(-r_i / T) / sum_j exp(-r_j / T).

    Cheng et al. 2025, "Stop Summation: Min-Form Credit Assignment Is All Process Reward Model Needs for Reasoning"
    (PURE), equation 6. A sum of scores grows with every step that is added; this does not.
    """
    if not scores:
        return []
    least = min(scores)
    weights = [math.exp((least - score) / temperature) for score in scores]
    return [score * weight / sum(weights) for score, weight in zip(scores, weights, strict=True)]


def efficiency(lengths: Sequence[int], right: Sequence[bool | None], groups: Sequence[str]) -> list[float]:
    """How much longer than needed each right solution is: 0 down to -1 at twice the need or more; 0 for the others.

    What is needed is the length of the shortest right solution to the same problem in the batch.
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
    """How unlike the nearest other right solution to the same problem each right solution is, 0 to 1; else 0.

    One minus the greatest Jaccard similarity of their runs of three words, numbers left out.
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
