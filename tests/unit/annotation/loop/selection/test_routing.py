"""Routes of a generation's items, and the draw of their audits."""

import numpy as np
import pytest

from annotation.loop.pool.partitions import create_partition
from annotation.loop.selection.generations import open_first_generation
from annotation.loop.selection.routing import Traits, draw_audits, first_rule, predict_error, route_selections
from annotation.models import PoolScore, QueueItem
from annotation.models.routing_policy import RouteRule
from annotation.work.queue.items import Selection
from tests.factories import (
    AnnotationFactory,
    MembershipFactory,
    ModelVersionFactory,
    ProblemFactory,
    ProjectFactory,
    SolutionFactory,
)

OWN = Traits(domain="algebra", generator="policy-7b", steps=5, error=0.9)


@pytest.mark.parametrize(
    ("conditions", "met"),
    [
        ({}, True),
        ({"domains": ["algebra", "geometry"]}, True),
        ({"domains": ["geometry"]}, False),
        ({"generators": ["other"]}, False),
        ({"min_steps": 5, "max_steps": 5}, True),
        ({"max_steps": 4}, False),
        ({"min_error": 0.9}, True),
        ({"max_error": 0.5}, False),
        ({"max_doubt": 0.2}, True),
        ({"min_doubt": 0.3}, False),
        ({"domains": ["algebra"], "min_steps": 6}, False),
    ],
)
def test_a_rule_holds_if_all_its_conditions_do(conditions, met):
    assert (first_rule([RouteRule(route="judge", **conditions)], OWN) == 0) is met


def test_the_first_rule_wins_and_no_score_meets_no_condition_on_scores():
    rules = [RouteRule(route="judge", max_error=1.0), RouteRule(route="person", domains=["algebra"])]
    assert first_rule(rules, OWN) == 0
    assert first_rule(rules, Traits("algebra", "", 5)) == 1
    assert first_rule(rules, Traits("geometry", "", 5)) is None


def test_the_predicted_error_is_that_of_any_step_and_unknown_if_a_step_is():
    assert predict_error([0.5, 0.5]) == 0.75
    assert predict_error([0.5, None]) is None
    assert predict_error([]) is None


@pytest.mark.parametrize(("count", "share"), [(30, 0.05), (7, 0.3), (1, 0.25)])
def test_every_item_is_audited_with_the_probability_that_is_recorded(count, share):
    rng = np.random.default_rng(20)
    drawn = np.stack([draw_audits(count, share, rng) for _ in range(4000)])
    assert set(drawn.sum(axis=1)) <= {int(count * share), int(count * share) + 1}
    assert np.abs(drawn.mean(axis=0) - share).max() < 4 * (share * (1 - share) / 4000) ** 0.5


def routed(rules, lanes, **policy):
    project = ProjectFactory(policy={"routing": {"rules": rules, **policy}})
    solutions = [SolutionFactory(project=project) for _ in lanes]
    selections = [Selection(solution_id=s.pk, lane=lane) for s, lane in zip(solutions, lanes, strict=True)]
    return project, solutions, selections


@pytest.mark.django_db
def test_without_rules_every_item_is_a_person_s():
    project, _, selections = routed([], ["acquisition", "holdout"])
    assert route_selections(project, selections, model=None, seed=1) == selections


@pytest.mark.django_db
def test_lanes_that_measure_people_or_models_stay_with_people():
    lanes = ["acquisition", "control", "holdout", "calibration", "overlap", "pinned", "gold"]
    project, _, selections = routed([{"route": "judge", "judges": 2}], lanes, audit_share=1.0)
    made = route_selections(project, selections, model=None, seed=1)
    assert [one.route for one in made] == ["judge", "judge", *["person"] * 5]
    assert [one.wanted for one in made] == [2, 2, *[1] * 5]
    assert [one.audit_probability for one in made] == [1.0, 1.0, *[None] * 5]
    assert [one.audited for one in made] == [True, True, *[False] * 5]


@pytest.mark.django_db
def test_scores_decide_and_a_solution_that_a_machine_labelled_is_a_person_s():
    project, solutions, selections = routed([{"route": "judge", "max_error": 0.3}], ["acquisition"] * 4)
    model = ModelVersionFactory(project=project)
    create_partition(model)
    for solution, mean in zip(solutions[:3], ([0.9, 0.9], [0.4, 0.9], [0.9, 1.0]), strict=True):
        PoolScore.objects.create(model_version=model, solution=solution, mean=mean, spread=[0.0, 0.0])
    AnnotationFactory(solution=solutions[2], annotator=MembershipFactory(project=project, kind="machine"))
    made = route_selections(project, selections, model=model, seed=1)
    assert [one.route for one in made] == ["judge", "person", "person", "person"]
    assert made[0].predicted_error == pytest.approx(0.19)


@pytest.mark.django_db
def test_a_generation_stores_its_rules_and_the_routes_of_its_items():
    project = ProjectFactory(
        policy={
            "generation_budget": 10,
            "routing": {"rules": [{"route": "judge", "domains": ["algebra"]}], "audit_share": 0.5},
        }
    )
    manager = MembershipFactory(project=project, role="manager")
    for number in range(12):
        domain = "algebra" if number % 2 else "geometry"
        SolutionFactory(project=project, problem=ProblemFactory(project=project, domain=domain))
    generation = open_first_generation(by=manager.user, project=project, seed=3)
    items = QueueItem.objects.filter(generation=generation)
    judged = items.filter(route="judge")
    assert set(judged.values_list("solution__problem__domain", "taker", "rule", "audit_probability")) == {
        ("algebra", "machine", 0, 0.5)
    }
    assert abs(judged.filter(audited=True).count() - judged.count() / 2) <= 1
    assert set(items.filter(route="person").values_list("taker", "rule")) == {("person", None)}
    generation.refresh_from_db()
    assert generation.recipe.routes == [RouteRule(route="judge", domains=["algebra"])]
