"""A pool with a champion whose scores cost nothing: a solution's only head says 1 / (1 + its key)."""

from types import SimpleNamespace

import numpy as np
import pytest

from annotation.loop.gateway import scoring
from annotation.models import ModelVersion, PoolScore
from tests.factories import ModelVersionFactory, ProjectFactory, SolutionFactory


class Oracle:
    """Stands in for the gateway: `asked` are the scored solutions, and `wrong` is added to each new score."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.wrong = 0.0

    def score_pool(self, version, solutions, cost):
        self.asked += [solution.pk for solution in solutions]
        return [self.score(version, solution) for solution in solutions]

    def score(self, version, solution) -> PoolScore:
        p = 1 / (1 + solution.pk % 7) + self.wrong
        steps = solution.steps.count()
        return PoolScore(
            model_version=version, solution=solution, mean=[p] * steps, spread=[None] * steps, score=p**steps,
            heads=np.full((steps, 1), p).astype("<f2").tobytes(), gain=0.1, expected_seconds=9.0, unscored_steps=0,
        )  # fmt: skip


@pytest.fixture
def oracle(monkeypatch):
    found = Oracle()
    monkeypatch.setattr(scoring, "loaded_scorer", lambda version: SimpleNamespace())
    monkeypatch.setattr(scoring, "score_pool", found.score_pool)
    monkeypatch.setattr(scoring, "tolerance", lambda version: 2e-3)
    return found


@pytest.fixture
def project():
    project = ProjectFactory()
    SolutionFactory.create_batch(20, project=project)
    SolutionFactory.create_batch(2, project=project, problem__split="holdout")
    return project


@pytest.fixture
def champion(project):
    return ModelVersionFactory(project=project, number=1, state=ModelVersion.State.CHAMPION)


@pytest.fixture
def sent(monkeypatch):
    """The enqueued tasks: (name, arguments, queue)."""
    tasks = []
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: tasks.append((task, args, queue)))
    return tasks
