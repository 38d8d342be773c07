"""What the gate could detect: from the holdout's labels, and the spread of the comparisons so far."""

import pytest

from annotation.loop.registry import forecast_gate
from annotation.models.model_version import Measurement
from tests.factories import (
    AnnotationFactory,
    LabelSourceFactory,
    ModelVersionFactory,
    ProblemFactory,
    ProjectFactory,
    SolutionFactory,
    make_verdict,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = ProjectFactory(policy={"gate_min_holdout": 3})
    solutions = SolutionFactory.create_batch(3, problem=ProblemFactory(project=project, split="holdout"))
    for solution in solutions:
        AnnotationFactory(project=project, solution=solution)
    AnnotationFactory(project=project, solution=SolutionFactory(problem=ProblemFactory(project=project, split="pool")))
    return project


def test_the_forecast_says_what_the_holdout_shows_and_what_two_points_need(project):
    power = forecast_gate(project)
    assert (power.solutions, power.compared) == (3, 0)
    assert power.detectable > power.wanted == 0.02
    assert power.sentence == (
        f"The project has 3 labelled holdout solutions. In four of five cases they show a gain of "
        f"{100 * power.detectable:.1f} points, if a loss of 2.0 points is tolerated. To see 2.0 points, "
        f"about {power.needed:,} are needed."
    )


def test_a_holdout_that_measures_nothing_says_what_follows(project):
    project.policy["gate_min_holdout"] = 4
    power = forecast_gate(project)
    assert power.detectable is None
    assert power.sentence.startswith("The project has 3 labelled holdout solutions, and the gate measures from 4.")


def test_machines_measure_nothing(project):
    machine = LabelSourceFactory(project=project, kind="model_judge")
    solution = SolutionFactory(problem=ProblemFactory(project=project, split="holdout"))
    AnnotationFactory(project=project, solution=solution, source=machine)
    assert forecast_gate(project).solutions == 3


def test_the_spread_is_that_of_the_comparisons_between_models_so_far(project):
    for number, (error, champion) in enumerate([(0.0001, 1), (0.0001, 1), (0.3, None), (None, 1)]):
        ModelVersionFactory(
            project=project,
            number=number,
            metrics=Measurement(champion=champion),
            gate=make_verdict(error=error, n=400),
        )
    power = forecast_gate(project)
    assert (power.compared, power.needed) == (2, 3)
    assert power.sentence == (
        "The project has 3 labelled holdout solutions. In four of five cases they show a gain of 2.0 points, "
        "for which about 3 are needed."
    )
