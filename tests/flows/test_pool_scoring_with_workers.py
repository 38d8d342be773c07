"""The pool scored by real workers: one is killed in the middle of a slice, and nothing is lost or scored twice."""

from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection

from annotation.core import jobs
from annotation.core.lifecycle import sweep_jobs
from annotation.loop.pool import checking, shards
from annotation.models import PoolScore, PoolScoring
from tests.factories import ProblemFactory, ProjectFactory, SolutionFactory
from tests.rounds_world import serving_version
from tests.waiting import until

POOL = 60


@pytest.fixture
def champion(celery_workers):
    """A model that serves a project and has scored a part of its pool."""
    project = ProjectFactory()
    SolutionFactory.create_batch(POOL, project=project, problem=ProblemFactory(project=project))
    version = serving_version(project)
    shards.cut_shards(version)
    shards.score_slice(version, seconds=0)
    return version


def stored(version):
    return PoolScore.objects.filter(model_version=version).count()


def agreement(version):
    return PoolScoring.objects.get(model_version=version).agreement


@contextmanager
def no_score_can_be_written():
    """Whoever has scores to store waits, until this ends."""
    with psycopg.connect(**{**connection.get_connection_params(), "cursor_factory": psycopg.Cursor}) as other:
        other.execute("LOCK TABLE annotation_poolscore IN SHARE MODE")
        yield


def somebody_waits_to_write():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'RowExclusiveLock'")
        return cursor.fetchone()[0]


def test_a_killed_worker_loses_no_solution_and_scores_none_twice(champion, celery_workers):
    before = stored(champion)
    assert 0 < before < POOL
    with no_score_can_be_written():
        assert sweep_jobs() == 1  # as beat does every half minute
        until(somebody_waits_to_write)
        celery_workers.kill("score")
    assert stored(champion) == before
    assert champion.pool_scoring.left == POOL - before, "what is not stored waits in a shard"
    celery_workers.start()
    assert sweep_jobs() == 1
    until(lambda: PoolScoring.objects.get(model_version=champion).state == "done")
    assert stored(champion) == POOL
    assert agreement(champion).differing == []
    embeddings = PoolScore.objects.filter(model_version=champion).values_list("embedding", flat=True)
    assert {len(embedding) for embedding in embeddings} == {2 * 32}

    # What is imported afterwards is scored without a round, and without scoring the rest again.
    SolutionFactory.create_batch(5, project=champion.project)
    jobs.enqueue("rounds.score_unscored")
    until(lambda: stored(champion) == POOL + 5)
    assert PoolScoring.objects.get(model_version=champion).wanted == 5
    assert checking.check_scores(champion).differing == []
