"""Draws a batch from a pool: gains, costs, inclusion probabilities, and the draw."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prm.acquisition.candidates import UNKNOWN, Array, Candidate, Numbers, Pool, Selected
from prm.acquisition.costs import CostModel, expected_cost
from prm.acquisition.drawing import draw
from prm.acquisition.functions import FUNCTIONS, LEAST, error_chance
from prm.acquisition.inclusion import SHARPNESS, Caps, inclusion_probabilities
from prm.answers.noise import PRIOR, AnswerNoise

ONE_EACH = Caps()
WANTED_WRONG = 0.6  # of the graded answers that a `by_grade` function draws
WANTED_ERRONEOUS = 0.8  # set on development problems of the sandbox, where chances are overestimated


@dataclass(frozen=True)
class Ranking:
    """The drawn indices of a pool, most useful first, with inclusion probabilities, gains and expected costs."""

    index: Numbers
    inclusion_probability: Array
    gain: Array
    expected_cost: Array


def rank(
    name: str,
    candidates: Sequence[Candidate],
    *,
    budget: int,
    cost: CostModel,
    rng: np.random.Generator,
    caps: Caps = ONE_EACH,
    noise: AnswerNoise = PRIOR,
) -> list[Selected]:
    """Draw up to `budget` candidates by the named function, most useful first.

    `noise` is that of the graded answers, as a model's manifest has it.
    The caps may allow fewer. Raises UnknownNameError, and PRMError for uneven heads.
    """
    FUNCTIONS.check(name)
    if not candidates or budget < 1:
        return []
    drawn = rank_pool(name, Pool.of(candidates), budget=budget, cost=cost, rng=rng, caps=caps, noise=noise)
    columns = (drawn.inclusion_probability, drawn.gain, drawn.expected_cost)
    return [
        Selected(candidates[place].id, *figures)
        for place, *figures in zip(drawn.index.tolist(), *(column.tolist() for column in columns), strict=True)
    ]


def rank_pool(
    name: str,
    pool: Pool,
    *,
    budget: int,
    cost: CostModel,
    rng: np.random.Generator,
    caps: Caps = ONE_EACH,
    noise: AnswerNoise = PRIOR,
) -> Ranking:
    """`rank` on columns, for pools of a million. A solution without a scored step has gain 0."""
    function = FUNCTIONS.get(name)
    if not len(pool) or budget < 1:
        return Ranking(np.zeros(0, dtype=np.int64), *(np.zeros(0) for _ in range(3)))
    gain, seconds = gains(name, pool, cost)
    utility = gain / seconds if function.per_cost else gain
    if function.balanced:
        utility = (utility * balance(chances(pool, noise))) ** (1 / SHARPNESS)  # so that weights are proportional to it
    if function.by_grade:
        utility = (utility * grade_weights(utility, pool.correct)) ** (1 / SHARPNESS)
    included = inclusion_probabilities(utility, pool.problem, pool.domain, budget, caps)
    drawn = draw(included, pool.problem, pool.domain, rng, pool.embedding)
    drawn = drawn[np.argsort(-utility[drawn], kind="stable")]
    return Ranking(drawn, included[drawn], gain[drawn], seconds[drawn])


def gains(name: str, pool: Pool, cost: CostModel) -> tuple[Array, Array]:
    """Each candidate's gain by the named function, and its expected cost in seconds: two arrays [n]."""
    gain = np.full(len(pool), 1.0 if name == "random" else 0.0)
    seconds = np.full(len(pool), cost.fixed_seconds)
    function = FUNCTIONS.get(name)
    for stack in pool.stacks():
        gain[stack.index] = function(stack)
        seconds[stack.index] = expected_cost(stack.p, stack.chars, cost)
    return gain, np.maximum(seconds, 1e-3)


def chances(pool: Pool, noise: AnswerNoise) -> Array:
    """Each candidate's chance of an error, [n]; 0 without a scored step."""
    chance = np.zeros(len(pool))
    for stack in pool.stacks():
        chance[stack.index] = error_chance(stack.p, stack.correct, noise)
    return chance


def balance(chance: Array) -> Array:
    """Weights [n] under which a share WANTED_ERRONEOUS of the draws has an error, if the chances are right."""
    share = np.clip(chance.mean(), 1e-6, 1 - 1e-6)
    return np.asarray(chance * WANTED_ERRONEOUS / share + (1 - chance) * (1 - WANTED_ERRONEOUS) / (1 - share))


def grade_weights(weight: Array, correct: NDArray[np.int8]) -> Array:
    """Factors [n] on `weight` [n] under which WANTED_WRONG of the graded draws are wrong answers.

    Ungraded solutions keep their share of the pool.
    """
    graded = correct != UNKNOWN
    wanted = {UNKNOWN: float((~graded).mean()), 0: WANTED_WRONG * graded.mean(), 1: (1 - WANTED_WRONG) * graded.mean()}
    factors = np.zeros(len(weight))
    for grade, share in wanted.items():
        of_grade = correct == grade
        factors[of_grade] = share / max(weight[of_grade].sum(), LEAST)
    return factors
