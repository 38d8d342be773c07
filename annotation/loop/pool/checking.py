"""Checks stored scores: scores a sample again and compares."""

import logging

import msgspec
import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import DomainError
from annotation.loop.gateway import scoring
from annotation.loop.pool.shards import solutions_of
from annotation.loop.selection import reading_times
from annotation.models import ModelVersion, PoolScore, PoolScoring
from annotation.models.pool_score import ScoreAgreement
from prm.messages import Message

log = logging.getLogger(__name__)

SAMPLE = 24


def check_scores(version: ModelVersion, *, size: int = SAMPLE) -> ScoreAgreement:
    """Score a random sample of the version's solutions again, and store how the scores agree.

    Raises DomainError (`scores_disagree`) if a difference is above the tolerance.
    """
    stored = {row.solution_id: row for row in PoolScore.objects.filter(model_version=version).order_by("?")[:size]}
    fresh = scoring.score_pool(version, solutions_of(sorted(stored)), reading_times.cost_model(version.project))
    distances = {row.solution_id: _distance(stored[row.solution_id], row) for row in fresh}
    tolerance = scoring.tolerance(version)
    agreement = ScoreAgreement(
        checked=len(distances),
        differing=sorted(pk for pk, distance in distances.items() if not distance <= tolerance),
        worst=min(max(distances.values(), default=0.0), 1.0),  # JSON has no infinity
        tolerance=tolerance,
    )
    figures = msgspec.structs.asdict(agreement)
    with transaction.atomic():
        PoolScoring.objects.filter(model_version=version).update(agreement=agreement, checked_at=timezone.now())
        if agreement.differing:
            audit.record(by=None, action="pool.disagree", target=version, after=figures)
    if agreement.differing:
        message = Message(
            "stored_scores_wrong",
            differing=Message(
                "n_scores_differ", n=len(agreement.differing), checked=agreement.checked, model=version.number
            ),
            model=version.number,
            worst=agreement.worst,
            tolerance=tolerance,
            solution=agreement.differing[0],
        )
        raise DomainError(message, figures, code="scores_disagree")
    return agreement


def check_champions() -> None:
    """Check the scores of every champion. A disagreement is stored, audited and logged."""
    for version in ModelVersion.objects.filter(state=ModelVersion.State.CHAMPION).select_related("project"):
        try:
            check_scores(version)
        except DomainError as error:
            log.error("%s: %s", version.project, error.message)


def _distance(stored: PoolScore, fresh: PoolScore) -> float:
    """The largest difference of a head's probability or a step's mean; infinite if other steps have scores."""
    if [m is None for m in stored.mean] != [m is None for m in fresh.mean] or len(stored.heads) != len(fresh.heads):
        return float("inf")
    heads = np.frombuffer(stored.heads, "<f2").astype(float) - np.frombuffer(fresh.heads, "<f2").astype(float)
    scored = [(a, b) for a, b in zip(stored.mean, fresh.mean, strict=True) if a is not None]
    means = np.array(scored, dtype=float).reshape(-1, 2)
    return float(max(np.abs(heads).max(initial=0.0), np.abs(means[:, 0] - means[:, 1]).max(initial=0.0)))
