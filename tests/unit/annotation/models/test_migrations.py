"""The migrations make the tables that the models describe, and can be taken back."""

import pytest
from django.core.management import call_command
from django.db import connection

from annotation.loop.pool.partitions import make_partition, write_scores
from annotation.models import PoolScore
from tests.factories import ModelVersionFactory, SolutionFactory


@pytest.mark.django_db
def test_nothing_is_left_to_migrate(capsys):
    call_command("makemigrations", check=True, dry_run=True)
    assert "No changes detected" in capsys.readouterr().out


@pytest.mark.django_db(transaction=True)
def test_all_of_them_can_be_taken_back_and_put_again_and_keep_the_scores_of_the_pool():
    versions = ModelVersionFactory.create_batch(2)
    for version in versions:
        make_partition(version)
        score = PoolScore(
            model_version=version, solution=SolutionFactory(), mean=[0.5, None], spread=[0.1, None], heads=b"ab"
        )
        write_scores(version, [score])
    before = pool_scores()
    for target in ("0001_domain", "0002_invariants"):
        call_command("migrate", "annotation", target, verbosity=0)
    assert rows("SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'annotation_%%_immutable'") == [(5,)]
    call_command("migrate", "annotation", verbosity=0)
    assert pool_scores() == before
    names = {name for (name,) in rows("SELECT tableoid::regclass::text FROM annotation_poolscore")}
    assert names == {f"annotation_poolscore_v{version.pk}" for version in versions}


def pool_scores():
    return list(PoolScore.objects.order_by("model_version").values("model_version", "solution", "mean", "heads"))


def rows(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()
