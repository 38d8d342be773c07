"""The population stability index, by hand and as a property; what it is measured on."""

import math
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.loop.pool.partitions import create_partition
from annotation.loop.schedule import drift
from annotation.models import ModelVersion, PoolScore, Solution
from tests.factories import ModelVersionFactory, ProjectFactory, SolutionFactory


def test_by_hand():
    before = np.repeat(np.arange(10), 10).astype(float)  # ten in each decile
    now = before.copy()
    now[now == 0] = 9.0  # the lowest decile moves into the highest
    p, low, high = 10.5 / 105, 0.5 / 105, 20.5 / 105
    expected = (low - p) * math.log(low / p) + (high - p) * math.log(high / p)
    assert drift.stability_index(before, now) == pytest.approx(expected)


floats = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(before=floats, now=floats)
def test_is_never_negative_and_nothing_for_the_same_scores(before, now):
    one, other = np.array(before), np.array(now)
    assert drift.stability_index(one, other) >= 0
    assert drift.stability_index(one, one) == 0


@given(seed=st.integers(0, 1000))
def test_the_same_distribution_stays_below_the_usual_thresholds(seed):
    rng = np.random.default_rng(seed)
    assert drift.stability_index(rng.random(2000), rng.random(500)) < 0.1
    assert drift.stability_index(rng.random(2000), rng.random(500) ** 3) > 0.25


def score_all(version, solutions, score):
    rows = [
        PoolScore(model_version=version, solution=solution, mean=[], spread=[], score=score(i))
        for i, solution in enumerate(solutions)
    ]
    PoolScore.objects.bulk_create(rows)


@pytest.mark.django_db
def test_measures_imports_since_the_champion_against_the_pool_it_was_promoted_on(monkeypatch):
    monkeypatch.setattr(drift, "LEAST", 5)
    project = ProjectFactory()
    now = timezone.now()
    old = SolutionFactory.create_batch(10, project=project)
    Solution.objects.update(created_at=now - timedelta(days=2))
    champion = ModelVersionFactory(
        project=project, state=ModelVersion.State.CHAMPION, promoted_at=now - timedelta(days=1)
    )
    create_partition(champion)
    score_all(champion, old, lambda i: i / 10)
    assert drift.measure(project) is None
    new = SolutionFactory.create_batch(6, project=project)
    score_all(champion, new, lambda i: 0.99)
    found = drift.measure(project)
    assert (found.of, found.n) == ("imports", 6)
    assert found.index > 1
