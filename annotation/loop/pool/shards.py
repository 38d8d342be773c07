"""Shards: rows with the solutions that a version has yet to score, which workers take one at a time.

A worker locks the row of its shard while it scores, and commits the scores together with the row. If it dies, the row
is unchanged and unlocked, without a timeout. Shards are cut only if none is left, so that no solution is in two.
"""

import time
from itertools import islice

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from annotation.loop.gateway import scoring
from annotation.loop.pool.partitions import create_partition, write_scores
from annotation.loop.selection import reading_times
from annotation.models import ModelVersion, PoolScore, PoolScoring, PoolShard, Solution

SHARD = 256  # solutions
SLICE_SECONDS = 2.0  # the longest time that a worker's other tasks wait for a slice
FIRST_BLOCK, LARGEST_BLOCK = 8, SHARD

CUT = """
INSERT INTO annotation_poolshard (model_version_id, solutions)
SELECT %(version)s, array_agg(id ORDER BY problem_id, id)
FROM (
    SELECT id, problem_id, (row_number() OVER (ORDER BY problem_id, id) - 1) / %(shard)s AS shard
    FROM annotation_solution AS solution
    WHERE project_id = %(project)s AND split = 'pool' AND NOT EXISTS (
        SELECT FROM annotation_poolscore AS score
        WHERE score.model_version_id = %(version)s AND score.solution_id = solution.id
    )
) AS unscored
GROUP BY shard ORDER BY shard
RETURNING cardinality(solutions)
"""


def cut_shards(version: ModelVersion, *, by: User | None = None) -> int:
    """Cut the pool solutions that the version has not scored into shards of a queued scoring; returns how many.

    Does nothing while shards are left. Solutions that were added since then are cut after that.
    """
    with transaction.atomic():
        new = {"project": version.project, "state": PoolScoring.State.DONE}
        PoolScoring.objects.get_or_create(model_version=version, defaults=new)
        job = PoolScoring.objects.select_for_update().get(model_version=version)
        if job.live or version.pool_shards.exists():
            return 0
        create_partition(version)
        with connection.cursor() as cursor:
            cursor.execute(CUT, {"version": version.pk, "project": version.project_id, "shard": SHARD})
            wanted: int = sum(size for (size,) in cursor.fetchall())
        if wanted:
            job.reopen()
            job.requested_by, job.cut_at, job.started_at = by, timezone.now(), None
            job.wanted, job.steps, job.seconds = wanted, 0, 0.0
            job.save()
    return wanted


def score_slice(version: ModelVersion, *, seconds: float = SLICE_SECONDS) -> int:
    """Score what fits in about `seconds` of a free shard; returns how many solutions, 0 if no shard is free.

    The rest of the shard stays for the next slice. Raises DomainError (`model_unusable`).
    """
    scoring.loaded_scorer(version)  # loading may take long: it must not hold a shard
    started = time.monotonic()
    with transaction.atomic():
        shard = (
            PoolShard.objects.select_for_update(skip_locked=True).filter(model_version=version).order_by("pk").first()
        )
        if shard is None:
            return 0
        done, rows = _score(version, shard.solutions, started + seconds)
        write_scores(version, rows)
        if rest := shard.solutions[done:]:
            shard.solutions = rest
            shard.save(update_fields=["solutions"])
        else:
            shard.delete()
        PoolScoring.objects.filter(model_version=version).update(
            steps=F("steps") + sum(len(row.mean) - row.unscored_steps for row in rows),
            seconds=F("seconds") + time.monotonic() - started,
        )
    return done


def _score(version: ModelVersion, ids: list[int], deadline: float) -> tuple[int, list[PoolScore]]:
    """How many of `ids` were handled, and their scores: block by block, each as large as the time allows."""
    cost = reading_times.cost_model(version.project)
    rows: list[PoolScore] = []
    remaining, done, block = iter(ids), 0, FIRST_BLOCK
    started = time.monotonic()
    while next_ids := list(islice(remaining, block)):
        rows += scoring.score_pool(version, solutions_of(next_ids), cost)
        done += len(next_ids)
        now = time.monotonic()
        fit = (deadline - now) * done / (now - started)
        if fit < 1:
            break
        block = min(int(fit), 4 * block, LARGEST_BLOCK)
    return done, rows


def solutions_of(ids: list[int]) -> list[Solution]:
    """The solutions in this order with `problem` and `steps`, without those that were deleted."""
    solutions = Solution.objects.select_related("problem").prefetch_related("steps").in_bulk(ids)
    return [solutions[pk] for pk in ids if pk in solutions]
