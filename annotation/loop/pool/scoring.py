"""Keeps the pool scored: a new champion scores all of it, and later the new solutions.

A scoring is a shared job: each of its workers scores one slice and enqueues itself again, so that other tasks of the
queue run in between.
"""

import time

from django.contrib.auth.models import User
from django.db import OperationalError, transaction

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.lifecycle import Turn, do_part, end_job, run_job, save_progress, send
from annotation.core.locks import advisory_lock
from annotation.core.membership.access import require_role
from annotation.core.periodic import for_each
from annotation.loop import registry
from annotation.loop.pool import checking
from annotation.loop.pool.partitions import drop_partition
from annotation.loop.pool.shards import cut_shards, score_slice
from annotation.models import Membership, ModelVersion, PoolScoring, Project
from prm.messages import Message

State = PoolScoring.State
WAIT_SECONDS = 0.2  # while other workers hold all remaining shards
ENDING = "end of a scoring"  # the lock of the worker that checks the scores and ends the job


def begin_scoring(version: ModelVersion, *, by: User | None = None) -> int:
    """Cut the solutions that the version has not scored into shards and enqueue them; returns how many solutions."""
    wanted = cut_shards(version, by=by)
    if wanted:
        send(PoolScoring.objects.get(model_version=version))
    return wanted


def run_scoring(scoring_id: int, seat: str) -> None:
    """Score a slice at this seat, and enqueue the next."""
    run_job(PoolScoring, scoring_id, _score_some, part=seat)


def help_scoring(version: ModelVersion) -> PoolScoring:
    """Start a version's scoring, or resume one that failed, and score a slice of it; returns the scoring.

    One that a person cancelled stays cancelled. Raises DomainError if it fails.
    """
    begin_scoring(version)
    scoring = PoolScoring.objects.get(model_version=version)
    if not scoring.live:
        if scoring.state == State.CANCELLED or not version.pool_shards.exists():
            return scoring
        scoring.reopen()
        scoring.save()
    _, turn = do_part(PoolScoring, scoring.pk, _score_some, part="here")
    if turn is Turn.ELSEWHERE:
        time.sleep(WAIT_SECONDS)
    scoring.refresh_from_db()
    if scoring.state == State.FAILED:
        raise DomainError(scoring.error, code=scoring.failure)
    return scoring


def score_unscored() -> int:
    """Start scoring the solutions that a champion has not scored; returns in how many projects."""
    return for_each(Project.objects.filter(state=Project.State.ACTIVE), _score_unscored)


def _score_unscored(project: Project) -> bool:
    champion = registry.champion_of(project)
    ended_early = PoolScoring.objects.filter(model_version=champion, state__in=[State.FAILED, State.CANCELLED])
    return champion is not None and not ended_early.exists() and bool(begin_scoring(champion))


def rescore_pool(*, by: User, version: ModelVersion) -> int:
    """Delete a version's scores and score the pool again; returns how many solutions it has.

    Raises Forbidden, Conflict (`weights_deleted`, `pool_busy`).
    """
    require_role(by, version.project, Membership.Role.MANAGER)
    registry.require_weights(version)
    with advisory_lock(ENDING, version.pk) as free:
        if not free:
            raise Conflict(Message("pool_busy"))
        try:
            with transaction.atomic():
                drop_partition(version)
                PoolScoring.objects.filter(model_version=version).update(
                    state=State.DONE, failure="", error="", wanted=0, agreement=None, checked_at=None
                )
                wanted = begin_scoring(version, by=by)
                audit.record(by=by, action="pool.rescore", target=version, after={"solutions": wanted})
        except OperationalError as error:
            raise Conflict(Message("pool_busy")) from error
    return wanted


def _score_some(scoring: PoolScoring) -> Turn | None:
    """Score one slice. After the last one, check a sample of the stored scores and end the job. Raises DomainError."""
    version = scoring.model_version
    scored = score_slice(version)
    if not version.pool_shards.exists():
        with advisory_lock(ENDING, version.pk) as alone:
            if not alone:
                return Turn.ELSEWHERE
            if not version.pool_shards.exists():  # unless the pool was cut again before the lock
                checking.check_scores(version)
                end_job(scoring, State.DONE)
                return None
    save_progress(scoring)
    return Turn.AGAIN if scored else Turn.ELSEWHERE
