"""Estimates of a route's accuracy from random audits and gold. Pure."""

from collections.abc import Sequence
from math import sqrt
from typing import Annotated, NamedTuple

from annotation.core.bounds import about
from prm.consensus import Measured
from prm.intervals import score_interval

LEAST = 10  # effective audits below which an interval says too little


class Audit(NamedTuple):
    """An audited label: whether it was right, and the probability with which it was drawn."""

    right: bool
    probability: float


class AuditedAccuracy(Measured, frozen=True):
    """An estimated share of right labels with its 95 % interval, and the number of labels that it was measured on."""

    value: Annotated[float, about("The share of right labels.")]
    measured: Annotated[int, about("Number of audits or gold answers that it was measured on.")]


def accuracy_from(audits: Sequence[Audit]) -> AuditedAccuracy | None:
    """The share of right labels on a route, from audits drawn with unequal probabilities; None if there are too few.

    Each audit has the weight 1 / probability (Hájek 1971, in Godambe and Sprott, Foundations of Statistical Inference).
    The interval is Wilson's for the effective number of audits (Kish 1965, Survey Sampling).
    """
    weights = [1 / audit.probability for audit in audits]
    total = sum(weights)
    effective = total**2 / sum(weight**2 for weight in weights) if weights else 0.0
    if effective < LEAST:
        return None
    share = sum(weight for weight, audit in zip(weights, audits, strict=True) if audit.right) / total
    return AuditedAccuracy(share, *score_interval(share, effective), len(audits))


def mix(parts: Sequence[tuple[float, AuditedAccuracy | None]]) -> AuditedAccuracy | None:
    """The accuracy of a route whose labels come from sources in these proportions; None if one that counts is unknown.

    The interval combines those of independent parts (MOVER: Zou, Huang and Zhang 2009, Statistics in Medicine 28).
    """
    known = [(share, accuracy) for share, accuracy in parts if share and accuracy is not None]
    if not known or len(known) < sum(share > 0 for share, _ in parts):
        return None
    value = sum(share * one.value for share, one in known)
    below = sqrt(sum((share * (one.value - one.low)) ** 2 for share, one in known))
    above = sqrt(sum((share * (one.high - one.value)) ** 2 for share, one in known))
    return AuditedAccuracy(
        value, max(value - below, 0.0), min(value + above, 1.0), sum(one.measured for _, one in known)
    )
