"""Acquisition functions: from the heads' probabilities to how much each solution's label would teach.

Every function takes `p` [..., steps, heads] and gives [...]: p[k, m] is head m's probability that step k is good
given a good prefix, and a head stays one head across the steps of a solution. Information is in nats.
"""

import numpy as np
from numpy.typing import NDArray

from prm.acquisition.candidates import UNKNOWN, Array
from prm.acquisition.costs import reached
from prm.acquisition.joint import entropy_of
from prm.acquisition.registry import acquisition
from prm.messages import Message

RIGHT_DESPITE_ERROR = 0.15  # how far a right final answer lowers the chance that some step is wrong
WRONG_HAS_ERROR = 0.98
ACTPRM_STD = 0.01  # both as the authors' published configuration has them
ACTPRM_CONFIDENCE = 0.9
LEAST = 1e-12


@acquisition("random", looks_for=Message("seeks_random"))
def random(p: Array) -> Array:
    """The same for all."""
    return np.ones(p.shape[:-2])


@acquisition("first_error_bald", looks_for=Message("seeks_first_error_information"), per_cost=True, first_error=True)
def first_error_bald(p: Array) -> Array:
    """Information that a reader's first-error verdict gives about the heads.

    BALD (Houlsby et al. 2011, eq. 2) of the verdict q_m(k) = (1 - p_mk) prod_{j<k} p_mj, q_m(none) = prod_j p_mj:
    gain = H(mean_m q_m) - mean_m H(q_m). At most ln(heads), and at most ln(steps + 1).
    """
    reach = reached(p)
    q = np.concatenate([reach[..., :-1, :] * (1 - p), reach[..., -1:, :]], axis=-2)
    return _information(q, axis=-2)


@acquisition(
    "balanced_errors",
    looks_for=Message("seeks_balance"),
    per_cost=True,
    first_error=True,
    balanced=True,
)
@acquisition(
    "first_error_entropy",
    looks_for=Message("seeks_first_error_uncertainty"),
    per_cost=True,
    first_error=True,
)
def first_error_entropy(p: Array) -> Array:
    """How uncertain a reader's first-error verdict is altogether: H(mean_m q_m), `first_error_bald` without what
    is taken off for the heads' own uncertainty. Where errors are rare, it is greatest where one may be: heads
    that are few or alike under-state what they do not know, and their mean still tells it.
    """
    reach = reached(p)
    q = np.concatenate([reach[..., :-1, :] * (1 - p), reach[..., -1:, :]], axis=-2)
    return entropy_of(q.mean(axis=-1), axis=-1)


@acquisition("step_bald", looks_for=Message("seeks_step_information"), per_cost=True)
def step_bald(p: Array) -> Array:
    """Sum over steps of each step's own BALD (Houlsby et al. 2011, eq. 2), as if every step were rated by itself.

    Counts twice what two steps tell alike; `joint_bald` does not.
    """
    return _information(np.stack([p, 1 - p]), axis=0).sum(axis=-1)


@acquisition("entropy", looks_for=Message("seeks_entropy"))
def entropy(p: Array) -> Array:
    """Mean over steps of the entropy of the heads' mean: uncertainty sampling (Lewis & Gale 1994)."""
    mean = p.mean(axis=-1)
    return entropy_of(np.stack([mean, 1 - mean]), axis=0).mean(axis=-1)


@acquisition("margin", looks_for=Message("seeks_margin"))
def margin(p: Array) -> Array:
    """How near the most doubtful step's mean lies to one half: 1 at one half, 0 at certainty (Scheffer et al. 2001)."""
    return np.asarray((1 - np.abs(2 * p.mean(axis=-1) - 1)).max(axis=-1))


@acquisition("surprisal", looks_for=Message("seeks_surprise"))
def surprisal(p: Array) -> Array:
    """Surprise at the least likely step, -ln min_k mean_m p_mk.

    For scores that a backbone gives with no labels (p = exp(-greatest surprisal of a step's tokens)): the cold
    start of Yuan et al. 2020, who rank by the language model's own loss before there is a trained model.
    """
    return np.asarray(-np.log(np.maximum(p.mean(axis=-1).min(axis=-1), LEAST)))


@acquisition("actprm", looks_for=Message("seeks_actprm"))
def actprm(p: Array) -> Array:
    """1 where a model is unsure of a solution, 0 where it is not: the rule of ActPRM (Duan et al. 2025, algorithm 1).

    Unsure is it where, at any step up to and including the first predicted error, the heads' standard deviation
    is above ACTPRM_STD or the more probable class of their mean has less than ACTPRM_CONFIDENCE.
    """
    mean = p.mean(axis=-1)
    spread = p.std(axis=-1, ddof=1) if p.shape[-1] > 1 else np.zeros_like(mean)
    unsure = (spread > ACTPRM_STD) | (np.maximum(mean, 1 - mean) < ACTPRM_CONFIDENCE)
    errors_before = np.cumsum(mean < 0.5, axis=-1) - (mean < 0.5)
    return np.asarray((unsure & (errors_before == 0)).any(axis=-1).astype(float))


@acquisition("convincing_wrong_answer", looks_for=Message("seeks_convincing_wrong_answers"), needs_outcome=True)
def convincing_wrong_answer(p: Array, correct: NDArray[np.int8]) -> Array:
    """The score of a solution whose final answer is wrong (Lightman et al. 2023, section 2.4); 0 for a right one.

    The score is prod_k mean_m p_mk. Where the outcome is unknown it is discounted by the score's own chance
    that something is wrong: s (1 - s). `correct` [...] is 1, 0 or UNKNOWN.
    """
    score = p.mean(axis=-1).prod(axis=-1)
    return np.where(correct == UNKNOWN, score * (1 - score), np.where(correct == 0, score, 0.0))


def error_chance(p: Array, correct: NDArray[np.int8]) -> Array:
    """The chance that some step is wrong, from the score s = prod_k mean_m p_mk and what the final answer tells.

    1 - s where nobody graded the answer; nearly certain where it is wrong; of a right answer, which mostly has no
    error behind it, a share of 1 - s. `correct` [...] is 1, 0 or UNKNOWN.
    """
    doubt = 1 - p.mean(axis=-1).prod(axis=-1)
    return np.where(correct == UNKNOWN, doubt, np.where(correct == 0, WRONG_HAS_ERROR, RIGHT_DESPITE_ERROR * doubt))


def _information(q: Array, axis: int) -> Array:
    """H(mean_m q_m) - mean_m H(q_m) with outcomes along `axis` and heads along the last one."""
    mixed = entropy_of(q.mean(axis=-1, keepdims=True), axis)[..., 0]
    return np.asarray(np.maximum(mixed - entropy_of(q, axis).mean(axis=-1), 0.0))
