"""Acquisition functions: from the heads' probabilities to the expected gain of each solution's label.

Every function maps `p` [..., steps, heads] to [...]: p[k, m] is head m's probability that step k is good given a good
prefix, and m is the same head at every step of a solution. Information is in nats.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from prm.acquisition.candidates import CELLS, UNKNOWN, Array, Stack
from prm.acquisition.costs import reached
from prm.answers.noise import AnswerNoise
from prm.messages import Message
from prm.registry import Registry

Gain = TypeVar("Gain", bound=Callable[..., Array])


@dataclass(frozen=True)
class Acquisition:
    """An acquisition function and how it is used.

    `gain` maps `p` [..., steps, heads], and with `needs_outcome` also `correct` [...], to [...]. `looks_for` describes
    the function on pages. A gain `per_cost` is divided by the expected seconds of reading. A `first_error` gain assumes
    a reader who stops at the first error; if every step is rated, the platform uses `joint_bald` instead. A `balanced`
    function is drawn so that errors are frequent in the sample even if they are rare in the pool. A `by_grade` function
    is drawn so that wrong answers have a fixed share of the graded sample, and ungraded ones their share of the pool.
    """

    gain: Callable[..., Array]
    looks_for: str
    per_cost: bool = False
    needs_outcome: bool = False
    first_error: bool = False
    balanced: bool = False
    by_grade: bool = False

    def __call__(self, stack: Stack) -> Array:
        return self.gain(stack.p, stack.correct) if self.needs_outcome else self.gain(stack.p)


FUNCTIONS = Registry[Acquisition](
    "stepmark.acquisition",
    Message("kind_acquisition_function"),
    built_in=(__name__,),
)


def acquisition(
    name: str,
    *,
    looks_for: str = "",
    per_cost: bool = False,
    needs_outcome: bool = False,
    first_error: bool = False,
    balanced: bool = False,
    by_grade: bool = False,
) -> Callable[[Gain], Gain]:
    """Register the decorated function under a name; the arguments are fields of `Acquisition`."""

    def decorate(gain: Gain) -> Gain:
        entry = Acquisition(gain, looks_for or name, per_cost, needs_outcome, first_error, balanced, by_grade)
        FUNCTIONS.add(name, entry, module=gain.__module__)
        return gain

    return decorate


ACTPRM_STD = 0.01  # this and the next are from the authors' published configuration
ACTPRM_CONFIDENCE = 0.9
LEAST = 1e-12


@acquisition("random", looks_for=Message("seeks_random"))
def random(p: Array) -> Array:
    """The same gain for all."""
    return np.ones(p.shape[:-2])


@acquisition("first_error_bald", looks_for=Message("seeks_first_error_information"), per_cost=True, first_error=True)
def first_error_bald(p: Array) -> Array:
    """Information that a reader's first-error verdict gives about the heads.

    BALD (Houlsby et al. 2011, eq. 2) of the verdict q_m(k) = (1 - p_mk) prod_{j<k} p_mj, q_m(none) = prod_j p_mj:
    gain = H(mean_m q_m) - mean_m H(q_m). At most ln(heads), and at most ln(steps + 1).
    """
    return _information(verdicts(p), axis=-2)


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
    """Total uncertainty of a reader's first-error verdict: H(mean_m q_m).

    Unlike `first_error_bald`, it does not subtract the heads' own uncertainty. If errors are rare, it is greatest for
    likely errors: few or similar heads understate their disagreement, but their mean still shows the uncertainty.
    """
    return entropy_of(verdicts(p).mean(axis=-1), axis=-1)


@acquisition("step_bald", looks_for=Message("seeks_step_information"), per_cost=True)
def step_bald(p: Array) -> Array:
    """Sum over steps of each step's own BALD (Houlsby et al. 2011, eq. 2), as if every step were rated by itself.

    It counts information that two steps share twice; `joint_bald` does not.
    """
    return _information(np.stack([p, 1 - p]), axis=0).sum(axis=-1)


@acquisition("entropy", looks_for=Message("seeks_entropy"))
def entropy(p: Array) -> Array:
    """Mean over steps of the entropy of the heads' mean: uncertainty sampling (Lewis & Gale 1994)."""
    mean = p.mean(axis=-1)
    return entropy_of(np.stack([mean, 1 - mean]), axis=0).mean(axis=-1)


@acquisition("margin", looks_for=Message("seeks_margin"))
def margin(p: Array) -> Array:
    """Closeness of the most doubtful step's mean to one half: 1 at one half, 0 at certainty (Scheffer et al. 2001)."""
    return np.asarray((1 - np.abs(2 * p.mean(axis=-1) - 1)).max(axis=-1))


@acquisition("surprisal", looks_for=Message("seeks_surprise"))
def surprisal(p: Array) -> Array:
    """Surprise at the least likely step, -ln min_k mean_m p_mk.

    For scores of a backbone without labels (p = exp(-greatest surprisal of a step's tokens)), it is the cold start of
    Yuan et al. 2020, who rank by the language model's own loss before a model is trained.
    """
    return np.asarray(-np.log(np.maximum(p.mean(axis=-1).min(axis=-1), LEAST)))


@acquisition("actprm", looks_for=Message("seeks_actprm"))
def actprm(p: Array) -> Array:
    """1 if the model is unsure of a solution, else 0: the rule of ActPRM (Duan et al. 2025, algorithm 1).

    It is unsure if, at any step up to and including the first predicted error, the heads' standard deviation is above
    ACTPRM_STD or the probability of their mean's more probable class is below ACTPRM_CONFIDENCE.
    """
    mean = p.mean(axis=-1)
    spread = p.std(axis=-1, ddof=1) if p.shape[-1] > 1 else np.zeros_like(mean)
    unsure = (spread > ACTPRM_STD) | (np.maximum(mean, 1 - mean) < ACTPRM_CONFIDENCE)
    errors_before = np.cumsum(mean < 0.5, axis=-1) - (mean < 0.5)
    return np.asarray((unsure & (errors_before == 0)).any(axis=-1).astype(float))


@acquisition("convincing_wrong_answer", looks_for=Message("seeks_convincing_wrong_answers"), needs_outcome=True)
def convincing_wrong_answer(p: Array, correct: NDArray[np.int8]) -> Array:
    """The score of a solution whose final answer is wrong (Lightman et al. 2023, section 2.4); 0 for a right one.

    The score is s = prod_k mean_m p_mk. If the outcome is unknown, it is multiplied by the chance of an error, s (1 -
    s). `correct` [...] is 1, 0 or UNKNOWN.
    """
    score = p.mean(axis=-1).prod(axis=-1)
    return np.where(correct == UNKNOWN, score * (1 - score), np.where(correct == 0, score, 0.0))


@acquisition("contradiction", looks_for=Message("seeks_contradictions"), needs_outcome=True, by_grade=True)
def contradiction(p: Array, correct: NDArray[np.int8]) -> Array:
    """How much the score contradicts the grade: s for a wrong answer, 1 - s for a right one, 1 without a grade.

    The score is s = prod_k mean_m p_mk: convincing wrong answers and doubted right ones. `correct` [...] is 1, 0 or
    UNKNOWN.
    """
    score = p.mean(axis=-1).prod(axis=-1)
    return np.where(correct == UNKNOWN, 1.0, np.where(correct == 0, score, 1 - score))


def error_chance(p: Array, correct: NDArray[np.int8], noise: AnswerNoise) -> Array:
    """The chance that some step is wrong, from the score s = prod_k mean_m p_mk and the outcome.

    1 - s for an ungraded answer; the fitted share for a wrong one; that share times 1 - s for a right one, which rarely
    follows from an error. `correct` [...] is 1, 0 or UNKNOWN.
    """
    doubt = 1 - p.mean(axis=-1).prod(axis=-1)
    wrong, right = 1 - noise.wrong_without_error, noise.right_despite_error * doubt
    return np.where(correct == UNKNOWN, doubt, np.where(correct == 0, wrong, right))


@acquisition("wrong_answers", looks_for=Message("seeks_wrong_answers"), needs_outcome=True)
def wrong_answers(p: Array, correct: NDArray[np.int8]) -> Array:
    """1 for a wrong final answer, else 0: the best filter that needs no model, and the baseline of all others.

    `correct` [...] is 1, 0 or UNKNOWN.
    """
    return (correct == 0).astype(float)


def verdicts(p: Array) -> Array:
    """q_m(k) and, last, q_m(none): [..., steps + 1, heads]."""
    reach = reached(p)
    return np.concatenate([reach[..., :-1, :] * (1 - p), reach[..., -1:, :]], axis=-2)


def _information(q: Array, axis: int) -> Array:
    """H(mean_m q_m) - mean_m H(q_m) with outcomes along `axis` and heads along the last one."""
    mixed = entropy_of(q.mean(axis=-1, keepdims=True), axis)[..., 0]
    return np.asarray(np.maximum(mixed - entropy_of(q, axis).mean(axis=-1), 0.0))


EXACT_STEPS = 8  # up to this number, all 2 ** steps outcomes are enumerated
SAMPLES = 64  # outcomes drawn from each head for more steps
SEED = 20190620


@acquisition("joint_bald", looks_for=Message("seeks_joint_information"), per_cost=True)
def joint_bald(p: Array) -> Array:
    """Joint information of the ratings of all steps: H(mean_m P_m) - mean_m H(P_m).

    P_m(y) = prod_k p_mk^{y_k} (1 - p_mk)^{1 - y_k} is head m's probability of the ratings y. This is the joint mutual
    information of BatchBALD (Kirsch et al. 2019, section 3) with a solution's steps as the batch. It is between the
    greatest step's BALD and `step_bald`, and at most ln(heads). Beyond EXACT_STEPS the mixture's entropy is estimated
    from outcomes drawn with the same random numbers for every solution and head, so that equal solutions have equal
    gains.
    """
    flat = p.reshape(-1, *p.shape[-2:])
    exact = flat.shape[1] <= EXACT_STEPS
    outcomes = 2 ** flat.shape[1] if exact else SAMPLES * flat.shape[2]
    portion = max(1, CELLS // (outcomes * flat.shape[2]))
    gain = _exact if exact else _sampled
    parts = [gain(flat[start : start + portion]) for start in range(0, len(flat), portion)]
    gains = np.clip(np.concatenate([np.zeros(0), *parts]), 0.0, np.log(max(p.shape[-1], 1)))
    return np.asarray(gains.reshape(p.shape[:-2]))


def entropy_of(q: Array, axis: int) -> Array:
    """Entropy in nats along an axis."""
    return np.asarray(-(q * np.log(np.where(q > 0, q, 1.0))).sum(axis=axis))


def _exact(p: Array) -> Array:
    """[n] from the probabilities of all outcomes [n, 2 ** steps, heads]."""
    joint = np.ones((len(p), 1, p.shape[2]))
    for step in range(p.shape[1]):
        good = p[:, step, None, :]
        joint = np.concatenate([joint * good, joint * (1 - good)], axis=1)
    return entropy_of(joint.mean(axis=2), axis=1) - entropy_of(joint, axis=1).mean(axis=1)


def _sampled(p: Array) -> Array:
    """[n]: the mean over heads m, and outcomes y drawn from P_m, of ln P_m(y) - ln mean_l P_l(y)."""
    n, steps, heads = p.shape
    uniform = _latin_hypercube(steps)
    good, bad = np.log(np.maximum(p, 1e-300)), np.log(np.maximum(1 - p, 1e-300))
    total = np.zeros(n)
    for head in range(heads):
        drawn = uniform < p[:, None, :, head]  # [n, samples, steps]
        joint = np.where(drawn, 1.0, 0.0) @ (good - bad) + bad.sum(
            axis=1, keepdims=True
        )  # ln P_l(y): [n, samples, heads]
        top = joint.max(axis=2, keepdims=True)
        mixed = np.log(np.exp(joint - top).mean(axis=2)) + top[..., 0]
        total += (joint[..., head] - mixed).mean(axis=1)
    return total / heads


def _latin_hypercube(steps: int) -> Array:
    """SAMPLES points [samples, steps] in the unit cube, evenly spread along every axis (McKay et al. 1979)."""
    rng = np.random.default_rng(SEED)
    places = rng.permuted(np.tile(np.arange(SAMPLES), (steps, 1)), axis=1).T
    return np.asarray((places + rng.random((SAMPLES, steps))) / SAMPLES)
