"""Ranking weighs a grade by how often grades misled among the project's own labels."""

from functools import partial

import numpy as np
import pytest

from annotation.labels.datasets.snapshots import create_snapshot
from annotation.loop.selection import ranking
from annotation.loop.selection.composition import compose
from annotation.loop.selection.ranking import answer_noise_of
from annotation.models import Solution
from prm.answers.noise import PRIOR, STRENGTH
from tests.factories import ModelVersionFactory
from tests.stored import snapshot_file
from tests.unit.annotation.labels.datasets.test_snapshots import rated, solution, take_in
from tests.unit.annotation.loop.selection.test_composition import scored_pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(project, manager):
    """A model of labels in which every second right answer of the pool, and every one elsewhere, follows an error."""
    records = []
    for number in range(60):
        record = solution(f"problem {'x' * number}", rated(1, -1, finish="found_error"))
        record.final_answer_correct = True
        records.append(record)
    take_in(project, *records)
    pool = Solution.objects.filter(project=project, split="pool").order_by("pk").values_list("problem__text", flat=True)
    sound = [solution(text, rated(1, 1, 1, 1), steps=4) for text in pool]
    for record in sound:
        record.final_answer_correct = True
    take_in(project, *sound)
    assert Solution.objects.filter(project=project).exclude(split="pool").exists()
    return ModelVersionFactory(
        project=project, number=1, snapshot=create_snapshot(by=manager, project=project, filters={})
    )


def test_the_noise_is_fitted_from_the_labels_of_the_pool_alone(version):
    n = Solution.objects.filter(split="pool").count()
    noise = answer_noise_of(version)
    expected = (n / 2 + STRENGTH * PRIOR.right_despite_error) / (n + STRENGTH)
    assert noise.right_despite_error == pytest.approx(expected)
    assert noise.wrong_without_error == PRIOR.wrong_without_error


def test_without_a_snapshot_or_its_file_the_prior_holds(version):
    snapshot_file(version.snapshot).unlink()
    assert answer_noise_of(version) == PRIOR
    version.snapshot = None
    assert answer_noise_of(version) == PRIOR


@pytest.mark.parametrize(
    ("acquisition", "graded"), [("balanced_errors", True), ("balanced_errors", False), ("entropy", True)]
)
def test_the_recipe_records_the_noise_if_the_function_weighs_grades(acquisition, graded):
    project, version, solutions = scored_pool(30, acquisition=acquisition)
    if graded:
        Solution.objects.filter(pk=solutions[0].pk).update(final_answer_correct=False)
    ranker = partial(ranking.rank_pool, project, version)
    plan = compose(project, rng=np.random.default_rng(1), ranker=ranker, acquisition=acquisition)
    expected = PRIOR if graded and acquisition == "balanced_errors" else None
    assert plan.recipe.lanes["acquisition"].noise == expected
