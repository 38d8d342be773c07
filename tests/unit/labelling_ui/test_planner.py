"""The planner's page and its API resource."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models.model_version import Measurement
from tests.factories import (
    AnnotationFactory,
    MachineAnnotatorFactory,
    MembershipFactory,
    ModelVersionFactory,
    SnapshotFactory,
    SolutionFactory,
    make_report,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def labelled(empty_project):
    """Four labels a day by one person on each of the last ten days, of a minute each."""
    project = empty_project
    project.policy = {"costs": {"hour": 30.0, "currency": "CHF"}}
    project.save()
    person = MembershipFactory(project=project)
    for day in range(1, 11):
        for _ in range(4):
            AnnotationFactory(
                solution=SolutionFactory(project=project),
                annotator=person,
                total_ms=60_000,
                submitted_at=timezone.now() - timedelta(days=day),
            )
    return project


@pytest.fixture
def plan(labelled, people, client):
    client.force_login(people["manager"])

    def plan(**query):
        return client.get("/api/v1/projects/algebra/plan/", query).json()

    return plan


def test_the_page_plans_a_thousand_labels(labelled, people, client):
    client.force_login(people["manager"])
    page = client.get("/p/algebra/planner/").content.decode()
    assert "500 CHF" in page
    assert "From 40 labels on 10 days" in page
    assert "A forecast needs three rounds" in page
    assert client.get("/p/algebra/planner/?goal=labels&amount=-1").status_code == 200


def test_an_empty_project_is_told_what_is_missing(empty_project, people, client):
    client.force_login(people["reviewer"])
    page = client.get("/p/algebra/planner/").content.decode()
    assert "Labels on three days are needed" in page
    client.force_login(people["annotator"])
    assert client.get("/p/algebra/planner/").status_code == 403


def test_hours_and_money_come_from_active_time(plan):
    by_labels = plan(goal="labels", amount=120)["workload"]
    assert (by_labels["hours"]["value"], by_labels["cost"]["value"]) == pytest.approx((2, 60))
    assert by_labels["days"]["value"] == pytest.approx(30)
    assert plan(goal="cost", amount=30)["workload"]["labels"]["value"] == pytest.approx(60)
    faster = plan(goal="labels", amount=120, hours_a_week=14)["workload"]
    assert faster["days"]["value"] == pytest.approx(1, abs=0.05)


def test_machines_cost_by_the_label(labelled, plan):
    member = MembershipFactory(project=labelled, kind="machine")
    machine = MachineAnnotatorFactory(membership=member, cost_per_label=0.5)
    AnnotationFactory(
        solution=SolutionFactory(project=labelled),
        annotator=member,
        source=machine.source,
        submitted_at=timezone.now() - timedelta(days=1),
    )
    work = plan(goal="days", amount=10)["workload"]
    assert (work["past_labels"], work["cost"]["high"] > work["cost"]["low"]) == (41, True)


def test_three_measured_models_make_a_curve(labelled, plan, people, client):
    for number, (labels, f1) in enumerate([(50, 0.4), (100, 0.5), (200, 0.57)], 1):
        snapshot = SnapshotFactory(project=labelled, sha256=str(number) * 64, counts={"annotations": labels})
        measured = Measurement(challenger=make_report(f1))
        ModelVersionFactory(project=labelled, number=number, snapshot=snapshot, metrics=measured)
    told = plan(goal="labels", amount=200, wanted_f1=0.6)
    assert told["model"]["labels"] == 400
    assert told["model"]["f1"]["low"] < 0.62 < told["model"]["f1"]["high"]
    assert told["reach"]["labels"]["low"] < 100 < told["reach"]["labels"]["high"]
    page = client.get("/p/algebra/planner/?goal=labels&amount=200&wanted_f1=99").content.decode()
    assert "Labels like these are not expected to bring an F1 of 99.0" in page
