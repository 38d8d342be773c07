"""The figures of each route, from rows made by hand."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.labels.labour.route_figures import figures_by_domain, figures_by_route
from annotation.models import GoldAnswer, JudgeCall, JudgedSolution, JudgingRun, LabelBatch
from tests.factories import AnnotationFactory, GenerationFactory, MembershipFactory, ProjectFactory, SolutionFactory
from tests.labour_world import AUDITED, COSTS, JUDGED, make_workers, queue

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    generation = GenerationFactory(project=ProjectFactory(policy={"costs": COSTS}))
    return generation, *make_workers(generation.project)


def test_costs_and_accuracies_by_hand(world):
    for _ in range(4):
        queue(world, [("person", -1)])
    for place in range(20):
        queue(world, [("judge", -1), ("person", 1 if place < 5 else -1)], **AUDITED)
        queue(world, [("judge", -1)], **JUDGED)
    queue(world, [("judge", -1)], domain="geometry", **JUDGED)
    person, judge = figures_by_route(world[0].project)
    assert (person.route, person.items, person.done, person.people_labels, person.judge_labels) == (
        "person",
        4,
        4,
        4,
        0,
    )
    assert person.cost.per_solution == pytest.approx(2.0)  # two minutes at 1 a minute
    assert (person.accuracy, person.cost.per_right) == (None, None)  # no gold
    assert (person.other, person.other_cost) == ("judge", pytest.approx(0.4))
    assert (judge.items, judge.done, judge.judged_alone, judge.audits) == (41, 41, 41, 20)
    assert judge.judge_accuracy.value == judge.accuracy.value == pytest.approx(0.75)
    assert judge.cost.per_solution == pytest.approx(0.1)
    assert judge.cost.per_right == pytest.approx(0.1 / 0.75)
    assert judge.cost.low == pytest.approx(0.1 / judge.accuracy.high)
    assert (judge.audit_cost, judge.other_cost) == (pytest.approx(40.0), pytest.approx(82.0))
    domains = {(row.domain, row.route): row for row in figures_by_domain(world[0].project)}
    assert set(domains) == {("algebra", "judge"), ("algebra", "person"), ("geometry", "judge")}
    assert domains["geometry", "judge"].judge_accuracy is None
    assert domains["geometry", "judge"].other_cost is None  # no person labelled geometry


def test_a_judge_then_a_person_mixes_audits_and_gold(world):
    generation, _machine, person = world
    rule = {"route": "judge_then_person", "rule": 0, "audit_probability": 0.5}
    for _ in range(10):
        queue(world, [("judge", -1), ("person", -1)], **rule, audited=True, handed_over="audit")
        queue(world, [("judge", -1), ("person", 1)], **rule, handed_over="model_against")
    for place in range(20):
        solution = SolutionFactory(project=generation.project)
        reference = AnnotationFactory(solution=solution, adjudicates=True, first_error=-1)
        GoldAnswer.objects.create(project=generation.project, solution=solution, annotation=reference)
        AnnotationFactory(solution=solution, annotator=person, lane="gold", first_error=1 if place < 10 else -1)
    [route] = figures_by_route(generation.project)
    assert (route.done, route.judged_alone, route.judge_labels, route.people_labels) == (20, 10, 20, 10)
    assert (route.judge_accuracy.value, route.people_accuracy.value) == (1.0, 0.5)
    assert route.accuracy.value == pytest.approx(0.75)
    assert route.cost.per_solution == pytest.approx((20 * 0.1 + 10 * 2.0) / 20)


def test_an_adjudication_or_gold_overrides_the_audit_s_label(world):
    for place in range(12):
        item = queue(world, [("judge", -1), ("person", 1)], **AUDITED)
        if place < 6:
            AnnotationFactory(solution=item.solution, adjudicates=True, first_error=-1)
    [judge] = figures_by_route(world[0].project)
    assert judge.judge_accuracy.value == pytest.approx(0.5)


def test_labels_that_are_set_aside_measure_neither_judges_nor_people(world):
    generation, machine, person = world
    careless = MembershipFactory(project=generation.project)
    for _ in range(12):
        queue(world, [("judge", -1), ("person", -1)], **AUDITED)
        queue((generation, machine, careless), [("judge", -1), ("person", 1)], **AUDITED)
        gold = AnnotationFactory(solution__project=generation.project, adjudicates=True, first_error=-1)
        GoldAnswer.objects.create(project=generation.project, solution=gold.solution, annotation=gold)
        AnnotationFactory(solution=gold.solution, annotator=person, lane="gold", first_error=-1)
        AnnotationFactory(solution=gold.solution, annotator=careless, lane="gold", first_error=1)
    [judge] = figures_by_route(generation.project)
    assert (judge.judge_accuracy.value, judge.people_accuracy.value) == (0.5, 0.5)
    long_ago, now = (timezone.now() - timedelta(days=days) for days in (9, 0))
    LabelBatch.objects.create(
        project=generation.project, annotator=careless, since=long_ago, until=now, judge="reading", state="set_aside"
    )
    [judge] = figures_by_route(generation.project)
    assert (judge.judge_accuracy.value, judge.judge_accuracy.measured) == (1.0, 12)
    assert (judge.people_accuracy.value, judge.people_accuracy.measured) == (1.0, 12)
    assert judge.audits == 24, "their labels remain, and their cost"


def test_a_label_of_a_judging_run_costs_what_its_calls_cost(world):
    item = queue(world, [("judge", -1)], **JUDGED)
    queue(world, [("judge", -1)], **JUDGED)
    run = JudgingRun.objects.create(
        project=item.project, method="judge", endpoint="judge", model="m", prompt="", prompt_version="1",
        currency="EUR", seed=0,
    )  # fmt: skip
    judged = JudgedSolution.objects.create(
        run=run, solution=item.solution, position=0, annotation=item.annotations.get()
    )
    for attempt, cost in enumerate((0.3, 0.2)):
        JudgeCall.objects.create(
            judged=judged, prefix=0, attempt=attempt, prompt_tokens=1, completion_tokens=1, cost=cost
        )
    [judge] = figures_by_route(item.project)
    assert judge.cost.per_solution == pytest.approx((0.5 + 0.1) / 2)


def test_without_costs_there_are_no_figures_of_money():
    generation = GenerationFactory()
    world = (generation, None, MembershipFactory(project=generation.project))
    queue(world, [("person", -1)])
    [person] = figures_by_route(generation.project)
    assert (person.cost, person.audit_cost, person.other_cost) == (None, None, None)
    assert figures_by_route(ProjectFactory()) == []
