"""The page and the settings of the division of labour."""

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Project, QueueItem
from annotation.models.routing_policy import RouteRule
from tests.factories import AnnotationFactory, GenerationFactory, MachineAnnotatorFactory, QueueItemFactory
from tests.unit.labelling_ui.settings_form import as_opened, errors_of

ADDRESS = "/p/algebra/settings/labour/"


def rows(*rules: dict[str, Any]) -> dict[str, Any]:
    """Rows of rules as a browser sends them."""
    usual = {"judges": 1, "unsure_steps": 1, "judges_differ": "on", "model_against": 0.5, "model_doubt": 0.5}
    fields = {
        f"routes-{place}-{name}": value for place, rule in enumerate(rules) for name, value in (usual | rule).items()
    }
    return {"routes-TOTAL_FORMS": len(rules), "routes-INITIAL_FORMS": 0, **fields}


def test_settings_store_the_cost_of_an_hour_and_refuse_a_wrong_currency(manager: Client, project: Project) -> None:
    form = as_opened(manager, "labour") | rows()
    manager.post(ADDRESS, form | {"hour": "36.5", "currency": "CHF"})
    project.refresh_from_db()
    assert (project.policies.costs.hour, project.policies.costs.currency) == (36.5, "CHF")
    wrong = manager.post(ADDRESS, form | {"currency": "francs"})
    assert "'francs' is not a currency code" in errors_of(wrong)["currency"][0]
    manager.post(ADDRESS, form | {"hour": ""})
    project.refresh_from_db()
    assert project.policies.costs.hour is None


def test_settings_store_the_rules_in_their_order(manager: Client, project: Project) -> None:
    sent = rows(
        {"route": "judge_then_person", "model_doubt": "", "judges": 2, "ORDER": 2},
        {"route": "judge", "domains": "algebra\n geometry \n", "max_steps": 8, "ORDER": 1},
        {"route": ""},
    )
    manager.post(ADDRESS, as_opened(manager, "labour") | sent | {"audit_share": 0.1})
    project.refresh_from_db()
    assert project.policies.routing.audit_share == 0.1
    assert project.policies.routing.rules == [
        RouteRule(route="judge", domains=["algebra", "geometry"], max_steps=8),
        RouteRule(route="judge_then_person", judges=2, model_doubt=None),
    ]
    assert "algebra\ngeometry" in manager.get(ADDRESS).content.decode()
    wrong = manager.post(
        ADDRESS, as_opened(manager, "labour") | rows({"route": "judge", "min_steps": 5, "max_steps": 2})
    )
    assert ["min_steps is larger than max_steps" in why for why in wrong.context["page"].refusals] == [True]


def judged(project: Project, **fields: Any) -> QueueItem:
    """An item of the project that waits for a judge."""
    generation = project.generations.filter(state="open").first() or GenerationFactory(project=project)
    waiting = {"lane": "acquisition", "route": "judge", "taker": "machine", "audit_probability": 0.1}
    return QueueItemFactory(generation=generation, **waiting | fields)


def test_the_page_and_the_api_show_the_routes_and_link_to_their_rows(
    manager: Client, empty_project: Project, people: dict[str, User]
) -> None:
    judge = MachineAnnotatorFactory(membership__project=empty_project, cost_per_label=0.5)
    item = judged(empty_project, state="done", done=1)
    AnnotationFactory(solution=item.solution, item=item, annotator=judge.membership, source=judge.source, counted=True)
    shown = manager.get("/p/algebra/quality/labour/").content.decode()
    assert "too few label audits" in shown
    assert 'href="/p/algebra/labels/?route=judge&amp;source=model_judge"' in shown
    assert manager.get("/p/algebra/labels/?route=judge&domain=arithmetic").context["listing"].page.paginator.count == 1
    assert manager.get("/p/algebra/labels/?handed_over=audit").context["listing"].page.paginator.count == 0
    assert manager.get("/p/algebra/solutions/?route=judge").context["listing"].page.paginator.count == 1
    answer = manager.get("/api/v1/projects/algebra/labour/").json()
    whole, by_domain = (row for row in answer if row["route"] == "judge")
    assert (whole["route"], whole["domain"], whole["cost"]["per_solution"]) == ("judge", None, 0.5)
    assert (by_domain["domain"], by_domain["accuracy"]) == ("arithmetic", None)


def test_one_button_hands_waiting_items_to_people(
    manager: Client, empty_project: Project, people: dict[str, User]
) -> None:
    items = [judged(empty_project) for _ in range(2)]
    assert "Hand 2 waiting items from machines to people" in manager.get("/p/algebra/queue/").content.decode()
    manager.post("/p/algebra/queue/hand-over/")
    assert set(QueueItem.objects.filter(pk__in=[one.pk for one in items]).values_list("taker", "handed_over")) == {
        ("person", "manager")
    }
    assert manager.post("/api/v1/projects/algebra/queue/hand-over/").json() == {"handed_over": 0}
    rows = manager.get("/api/v1/projects/algebra/queue/").json()["results"]
    assert [row["taker"] for row in rows if row["handed_over"] == "manager"] == ["person", "person"]
