"""Pool scores live in a partition per version: what goes in by COPY comes out the same, and goes away whole."""

import numpy as np
import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from annotation.loop.pool.partitions import create_partition, drop_partition, write_scores
from annotation.models import PoolScore
from tests.factories import ModelVersionFactory, SolutionFactory

p = st.floats(0, 1)
steps = st.lists(st.none() | p, max_size=6)
SCORES = st.lists(
    st.fixed_dictionaries(
        {
            "mean": steps,
            "spread": steps,
            "score": st.none() | p,
            "gain": st.none() | p,
            "expected_seconds": st.none() | st.floats(0, 1e6),
            "heads": st.lists(p).map(lambda row: np.array(row, "<f2").tobytes()),
            "embedding": st.binary(max_size=64),
            "unscored_steps": st.integers(0, 2**31 - 1),
        }
    ),
    max_size=5,
)


def tables():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'annotation_poolscore'::regclass"
        )
        return {name for (name,) in cursor.fetchall()}


@pytest.mark.slow
@pytest.mark.django_db
@given(SCORES)
def test_what_copy_writes_is_what_is_read(scores):
    with transaction.atomic():
        version = ModelVersionFactory()
        create_partition(version)
        rows = [PoolScore(model_version=version, solution_id=n, **fields) for n, fields in enumerate(scores)]
        assert write_scores(version, rows) == len(scores)
        stored = PoolScore.objects.filter(model_version=version).order_by("solution_id")
        for row, fields in zip(stored, scores, strict=True):
            assert {name: row.__dict__[name] for name in fields} == fields
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_a_version_is_dropped_whole_and_the_others_stay():
    one, other = ModelVersionFactory.create_batch(2)
    for version in (one, other):
        create_partition(version)
        create_partition(version)  # a second time does nothing
        write_scores(version, [PoolScore(model_version=version, solution=SolutionFactory(), mean=[0.5], spread=[0.1])])
    drop_partition(one)
    assert [row.model_version for row in PoolScore.objects.all()] == [other]
    assert f"annotation_poolscore_v{one.pk}" not in tables()
    drop_partition(one)
    create_partition(one)
    assert not PoolScore.objects.filter(model_version=one).exists()


@pytest.mark.django_db
def test_a_solution_has_one_score_of_a_version():
    version, solution = ModelVersionFactory(), SolutionFactory()
    create_partition(version)
    twice = [PoolScore(model_version=version, solution=solution, mean=[], spread=[])] * 2
    with pytest.raises(IntegrityError), transaction.atomic():
        write_scores(version, twice)
