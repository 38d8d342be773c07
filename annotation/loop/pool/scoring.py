"""Keeping the pool scored: for a new champion all of it, for new solutions only those.

A chain is a task that scores one slice and asks for itself again: there is one for each worker of the queue.
Chains hold nothing, so that any of them may die or be one too many; `sweep` sets their number right.
"""

import logging
import time

from celery import current_app
from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from annotation.core import audit, jobs
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import require_role
from annotation.loop import registry
from annotation.loop.pool import checking
from annotation.loop.pool.partitions import drop_partition
from annotation.loop.pool.shards import cut_shards, score_slice
from annotation.models import Membership, ModelVersion, PoolScoring, PoolShard, Project
from prm.messages import Message

log = logging.getLogger(__name__)

QUEUE = "score"
INSPECT_SECONDS = 1.0


def begin_scoring(version: ModelVersion) -> int:
    """Cut what the version has not scored and start a chain of tasks; returns how many solutions there are."""
    wanted = cut_shards(version)
    if wanted:
        _start_chains(version, 1)
    return wanted


def advance(version_id: int, epoch: int) -> None:
    """One link of a chain: a slice, and then the next link, until nothing is left to take."""
    version = ModelVersion.objects.select_related("project").get(pk=version_id)
    if not PoolScoring.objects.filter(model_version=version, epoch=epoch).exists():
        return
    try:
        found = score_slice(version).found
        if not version.pool_shards.exists():
            finish_scoring(version)
            return
    except DomainError as error:
        _give_up(version, error)
        return
    if found:
        jobs.enqueue("rounds.score_shard", version.pk, epoch, queue=QUEUE)


def finish_scoring(version: ModelVersion) -> None:
    """Once all shards are scored: check a sample of the stored scores. Raises DomainError (`scores_disagree`)."""
    ended = PoolScoring.objects.filter(model_version=version, finished_at=None, cut_at__isnull=False)
    if ended.update(finished_at=timezone.now()):
        checking.check_scores(version)


def score_news() -> int:
    """Begin to score what came into the pools since, and what a new champion has not scored; returns for how many."""
    begun = 0
    for project in Project.objects.filter(state=Project.State.ACTIVE):
        champion = registry.champion_of(project)
        if champion is not None and not _failed(champion):
            begun += bool(begin_scoring(champion))
    return begun


def sweep() -> int:
    """Give each scoring under way as many chains as there are workers to score; returns how many are under way."""
    unfinished = PoolShard.objects.values("model_version").distinct()
    versions = [v for v in ModelVersion.objects.filter(pk__in=unfinished) if not _failed(v)]
    if versions:
        workers = max(_workers(), 1)
        for version in versions:
            _start_chains(version, workers)
    return len(versions)


def rescore_pool(*, by: User, version: ModelVersion) -> int:
    """Throw a version's scores away and score the pool anew; returns how many solutions there are.

    Raises Forbidden, Conflict (`weights_deleted`, `pool_busy`).
    """
    require_role(by, version.project, Membership.Role.MANAGER)
    if version.weights_deleted_at is not None:
        raise Conflict("weights_deleted", Message("cannot_score_without_weights", n=version.number))
    try:
        with transaction.atomic():
            drop_partition(version)
            PoolScoring.objects.filter(model_version=version).delete()
            wanted = begin_scoring(version)
            audit.record(
                by=by, action="pool.rescore", target=version, project=version.project, after={"solutions": wanted}
            )
    except OperationalError as error:
        raise Conflict("pool_busy", Message("pool_busy")) from error
    return wanted


def wait_for_others() -> None:
    """A moment, where every shard that is left is in another worker's hands."""
    time.sleep(0.2)


def _start_chains(version: ModelVersion, number: int) -> None:
    """Put so many chains in the place of those there are."""
    PoolScoring.objects.filter(model_version=version).update(epoch=F("epoch") + 1)
    epoch = PoolScoring.objects.values_list("epoch", flat=True).get(model_version=version)
    for _shard in range(number):
        jobs.enqueue("rounds.score_shard", version.pk, epoch, queue=QUEUE)


def _workers() -> int:
    """How many workers take tasks from the queue."""
    answers = current_app.control.inspect(timeout=INSPECT_SECONDS).active_queues() or {}
    return sum(any(queue["name"] == QUEUE for queue in queues) for queues in answers.values())


def _failed(version: ModelVersion) -> bool:
    return PoolScoring.objects.filter(model_version=version).exclude(error="").exists()


def _give_up(version: ModelVersion, error: DomainError) -> None:
    """Say on the version's page why its scoring ended; a person starts it again."""
    log.error("The pool of %s is not scored by model %s: %s", version.project, version.number, error.message)
    with transaction.atomic():
        PoolScoring.objects.filter(model_version=version).update(error=error.message)
        audit.record(
            by=None, action="pool.fail", target=version, project=version.project, after={"error": error.message}
        )
