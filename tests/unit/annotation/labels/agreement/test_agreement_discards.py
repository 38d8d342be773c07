"""An agreement rule shows what it drops before anything uses it."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.labels.agreement.agreement_discards import Discards, count_discards, filter_solutions
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.record_stream import stream_records
from annotation.models import Project
from annotation.models.agreement_rule import AgreementRule
from tests import manager_world
from tests.factories import AnnotationFactory, LabelSourceFactory, ProblemFactory, SolutionFactory

pytestmark = pytest.mark.django_db
KINDS = ["monte_carlo", "model_judge"]
RULE = AgreementRule(KINDS)
QUERY = "agreement_sources=monte_carlo&agreement_sources=model_judge&agreement_on=first_error&agreement_keep=agreeing"


@pytest.fixture
def people() -> dict[str, User]:
    return manager_world.create_people()


@pytest.fixture
def labelled(people: dict[str, User]) -> Project:
    """Easy solutions on which both sources agree, hard ones on which they differ, and one that only one labelled."""
    project = manager_world.create_empty_project(people)
    for domain, steps, errors in (
        ("easy", 2, (-1, -1)),
        ("easy", 2, (1, 1)),
        ("hard", 5, (-1, 3)),
        ("hard", 5, (2, 4)),
        ("hard", 5, (-1, None)),
    ):
        solution = SolutionFactory(
            project=project,
            problem=ProblemFactory(project=project, domain=domain),
            steps=[f"Step {n}." for n in range(steps)],
        )
        for kind, error in zip(KINDS, errors, strict=True):
            if error is not None:
                source = LabelSourceFactory(project=project, kind=kind)
                AnnotationFactory(solution=solution, annotator=None, source=source, first_error=error)
    return project


def test_counts_by_error_verdicts_domain_and_length(labelled):
    groups = count_discards(filter_solutions(labelled, RULE))
    assert [group for group in groups if group.by in ("error", "domain", "length")] == [
        Discards("error", "none", kept=1, silent=1),
        Discards("error", "reported", kept=1, dropped=2),
        Discards("domain", "easy", kept=2),
        Discards("domain", "hard", dropped=2, silent=1),
        Discards("length", "2–3", kept=2),
        Discards("length", "4–7", dropped=2, silent=1),
    ]
    assert {group.value: group.share for group in groups if group.by == "verdicts"} == {
        "monte_carlo: none · model_judge: none": 0.0,
        "monte_carlo: error · model_judge: error": 0.5,
        "monte_carlo: none · model_judge: error": 1.0,
        "monte_carlo: none · model_judge: silent": 1.0,
    }


@pytest.mark.parametrize("fields", [{}, {"silent": "kept"}, {"on": "presence"}, {"keep": "differing"}])
def test_a_snapshot_with_the_rule_has_what_is_kept(labelled, fields):
    kept = sum(one.kept for one in filter_solutions(labelled, AgreementRule(KINDS, **fields)))
    filters = parse_filters({"agreement": {"sources": KINDS, **fields}})
    assert len(list(stream_records(project=labelled, filters=filters))) == kept


def test_the_page_and_the_api_lead_to_the_dropped_solutions(
    client: Client, labelled: Project, people: dict[str, User]
) -> None:
    client.force_login(people["manager"])
    empty = client.get("/p/algebra/quality/agreement-filter/")
    assert "No rule is chosen" in empty.content.decode()
    shown = client.get(f"/p/algebra/quality/agreement-filter/?{QUERY}")
    assert "keeps 2 of 5 labelled solutions" in " ".join(shown.content.decode().split())
    assert shown.context["listing"].page.paginator.count == 3
    group = client.get(f"/p/algebra/quality/agreement-filter/?{QUERY}&group=error&value=reported")
    assert group.context["listing"].page.paginator.count == 2
    assert "Monte Carlo estimates: no error · model judges: no label" in group.content.decode()
    silent = client.get(f"/p/algebra/quality/agreement-filter/?{QUERY}&group=domain&value=hard&why=silent")
    assert silent.context["listing"].page.paginator.count == 1
    labelled.policy["training_agreement"] = {"sources": KINDS}
    labelled.save()
    assert client.get("/p/algebra/quality/agreement-filter/").context["kept"] == 2
    report = client.get("/api/v1/projects/algebra/agreement-filter/?sources=monte_carlo&sources=model_judge").json()
    assert len(report["solutions"]) == 3
    assert {(group["by"], group["value"], group["share"]) for group in report["groups"]} >= {("domain", "hard", 1.0)}
    assert client.get("/api/v1/projects/algebra/agreement-filter/?sources=monte_carlo").status_code == 400
