"""The pool scored by real workers: one is killed in the middle of a slice, and nothing is lost or scored twice."""

import pytest

from annotation import jobs
from annotation.models import PoolScore, PoolScoring
from annotation.rounds.pool import checking, scoring, shards
from tests.factories import ProblemFactory, ProjectFactory, SolutionFactory
from tests.rounds_world import serving_version
from tests.waiting import until

LONG = ["We add the two numbers that we were given, and write the sum down."] * 40


@pytest.fixture
def champion(celery_workers):
    """A model that serves a project of long solutions."""
    project = ProjectFactory()
    SolutionFactory.create_batch(240, project=project, problem=ProblemFactory(project=project), steps=LONG)
    return serving_version(project)


def stored(version):
    return PoolScore.objects.filter(model_version=version).count()


def agreement(version):
    return PoolScoring.objects.get(model_version=version).agreement


def test_a_killed_worker_loses_no_solution_and_scores_none_twice(champion, celery_workers):
    pool = champion.project.solutions.filter(split="pool").count()
    assert scoring.begin_scoring(champion) == pool
    until(lambda: stored(champion))
    celery_workers.kill("score")
    left = shards.left_of(champion)
    assert 0 < left < pool, "it was killed in the middle"
    assert stored(champion) + left == pool, "what is not stored waits in a shard"
    celery_workers.start()
    assert scoring.sweep() == 1  # as beat does every half minute
    until(lambda: agreement(champion))
    assert stored(champion) == pool
    assert agreement(champion)["differing"] == []
    embeddings = PoolScore.objects.filter(model_version=champion).values_list("embedding", flat=True)
    assert {len(embedding) for embedding in embeddings} == {2 * 32}

    # What is imported afterwards is scored without a round, and without scoring the rest again.
    SolutionFactory.create_batch(5, project=champion.project)
    jobs.enqueue("rounds.score_news")
    until(lambda: stored(champion) == pool + 5)
    assert PoolScoring.objects.get(model_version=champion).wanted == 5
    assert checking.check_scores(champion).differing == []
