"""Joint information of all step ratings about the heads: exact for short solutions, sampled for long ones."""

import numpy as np

from prm.acquisition.candidates import CELLS, Array
from prm.acquisition.registry import acquisition
from prm.messages import Message

EXACT_STEPS = 8  # up to here all 2 ** steps outcomes are looked at
SAMPLES = 64  # outcomes drawn from each head beyond
SEED = 20190620


@acquisition("joint_bald", looks_for=Message("seeks_joint_information"), per_cost=True)
def joint_bald(p: Array) -> Array:
    """Information that the ratings of all steps give together: H(mean_m P_m) - mean_m H(P_m), where head m gives the
    ratings y the probability P_m(y) = prod_k p_mk^{y_k} (1 - p_mk)^{1 - y_k}.

    The joint mutual information of BatchBALD (Kirsch et al. 2019, section 3) with a solution's steps as the batch.
    `p` [..., steps, heads] gives [...], between the greatest step's BALD and `step_bald`, and at most ln(heads).
    Beyond EXACT_STEPS the mixture's entropy is estimated from outcomes drawn with the same random numbers for
    every solution and head, so that equal solutions get equal gains.
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
