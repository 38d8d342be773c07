"""Examples in the settings, gold for practice, and the page of one's own work."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.core.membership.projects import change_project
from annotation.models import GoldAnswer, Membership, Project
from annotation.work.labelling.sending_back import send_back
from tests.factories import AnnotationFactory, LabelSourceFactory
from tests.manager_world import make_solution
from tests.unit.annotation.work.queue.gold_world import answer, claim
from tests.unit.labelling_ui.settings_form import as_opened

EXAMPLE = {"rating": "bad", "before": "What is 2 + 2?", "step": "It is $5$.", "why": "It is 4."}


def page(client: Client, address: str) -> str:
    response = client.get(f"/p/algebra/{address}")
    assert response.status_code == 200
    return response.content.decode()


def rows(*examples: dict[str, str], removed: int = -1) -> dict[str, object]:
    sent: dict[str, object] = {"examples-TOTAL_FORMS": len(examples) + 1, "examples-INITIAL_FORMS": len(examples)}
    for number, example in enumerate([*examples, {"rating": "good"}]):
        sent |= {f"examples-{number}-{name}": value for name, value in example.items()}
        if number == removed:
            sent[f"examples-{number}-DELETE"] = "on"
    return sent


def test_examples_are_added_changed_and_removed_in_the_settings_and_stand_beside_the_work(
    client: Client, people: dict[str, User], project: Project
) -> None:
    client.force_login(people["manager"])
    form = as_opened(client, "guidelines")
    new = {f"examples-0-{name}": value for name, value in EXAMPLE.items()}
    client.post(
        "/p/algebra/settings/guidelines/", form | {"examples-TOTAL_FORMS": 1, "examples-INITIAL_FORMS": 0} | new
    )
    project.refresh_from_db()
    assert project.current_guidelines.examples == [EXAMPLE]
    shown = client.get("/p/algebra/label/").context["config"]
    assert (shown["guidelines"]["examples"], shown["practice"]) == ([EXAMPLE], False)

    client.post("/p/algebra/settings/guidelines/", form | rows(EXAMPLE | {"why": "Count."}))
    project.refresh_from_db()
    assert [one["why"] for one in project.current_guidelines.examples] == ["Count."]
    client.post("/p/algebra/settings/project/", {"name": "Geometry"})
    project.refresh_from_db()
    assert (project.name, len(project.current_guidelines.examples)) == ("Geometry", 1), (
        "another page leaves them as they are"
    )
    client.post("/p/algebra/settings/guidelines/", form | rows(EXAMPLE, removed=0))
    project.refresh_from_db()
    assert project.current_guidelines.examples == []


def test_the_settings_show_each_version_of_the_guidelines_with_its_changes_and_its_author(
    client: Client, people: dict[str, User], project: Project
) -> None:
    client.force_login(people["manager"])
    assert "difference" not in page(client, "settings/guidelines/")
    change_project(by=people["manager"], project=project, guidelines="Be fair.\nCount <twice>.")
    change_project(by=people["manager"], project=project, guidelines="Be strict.\nCount <twice>.", examples=[EXAMPLE])
    shown = page(client, "settings/guidelines/")
    assert shown.count("Version 2") == shown.count("Version 1") == 1
    assert f'<span class="muted small">{people["manager"].username} · <time' in shown
    latest = shown[shown.index("Version 2") : shown.index("Version 1")]
    assert "<del>- Be fair.</del><ins>+ Be strict.</ins><span>  Count &lt;twice&gt;.</span>" in latest
    assert f"<ins>+ bad: {EXAMPLE['step']}</ins>" in latest


def test_an_example_without_a_step_is_named(client: Client, people: dict[str, User], project: Project) -> None:
    client.force_login(people["manager"])
    wrong = client.post(
        "/p/algebra/settings/guidelines/", as_opened(client, "guidelines") | rows(EXAMPLE | {"step": ""})
    )
    assert wrong.context["page"].parts[1].rows.forms[0].errors == {"step": ["This field is required."]}
    assert "Not saved. Correct the errors" in wrong.content.decode()
    project.refresh_from_db()
    assert project.current_guidelines.examples == []


def test_gold_goes_to_practice_with_an_explanation_and_is_offered(
    client: Client, people: dict[str, User], project: Project
) -> None:
    source = LabelSourceFactory(project=project, kind="human", name="expert")
    label = AnnotationFactory(
        solution=make_solution(project, 100), annotator=None, source=source, first_error=1, finish_reason="found_error"
    )
    client.force_login(people["annotator"])
    assert "/p/algebra/practice/" not in page(client, "my-work/")
    client.force_login(people["reviewer"])
    sent = {"annotation": label.pk, "use": "practice", "explanation": "Count again."}
    client.post("/p/algebra/gold/mark/", sent)
    gold = GoldAnswer.objects.get()
    assert (gold.practice, gold.explanation) == (True, "Count again.")
    assert "for practice" in page(client, "gold/?state=practice")
    assert "Count again." in page(client, f"solutions/{label.solution_id}/")
    assert "No gold matches" in page(client, "gold/?state=hidden")
    client.force_login(people["annotator"])
    assert page(client, "my-work/").count("/p/algebra/practice/") == 1
    assert json.dumps(client.get("/p/algebra/practice/").context["config"]["practice"]) == "true"


def test_many_are_marked_for_practice_at_once(client: Client, people: dict[str, User], project: Project) -> None:
    source = LabelSourceFactory(project=project, kind="human", name="expert")
    AnnotationFactory(solution=make_solution(project, 100), annotator=None, source=source, first_error=-1)
    client.force_login(people["manager"])
    client.post("/p/algebra/gold/mark-many/", {"kinds": ["human"], "most": 3, "practice": "on"})
    assert GoldAnswer.objects.get().practice is True


@pytest.mark.parametrize("role", ["annotator", "reviewer", "manager", "superuser"])
def test_own_work_opens_for_everybody(client: Client, people: dict[str, User], project: Project, role: str) -> None:
    client.force_login(people[role])
    assert "All your labels" in page(client, "my-work/")


def test_what_came_back_stands_on_top_with_its_reason_and_leads_to_the_label(
    client: Client, people: dict[str, User], project: Project
) -> None:
    person = Membership.objects.get(project=project, user=people["annotator"])
    given = answer(person, claim(person).lease)
    send_back(by=people["reviewer"], annotation=given, reason="Look at step 2 again.")
    client.force_login(people["annotator"])
    shown = page(client, "my-work/")
    assert "1 label was sent back to you" in shown
    assert "Look at step 2 again." in shown
    assert f"/p/algebra/label/{given.solution_id}/" in shown
    answer(person, given.lease, first_error=-1, based_on=1)
    assert "sent back to you" not in page(client, "my-work/")
    assert "Look at step 2 again." in page(client, "my-work/"), "the reason of an earlier request"


def test_a_label_that_came_back_says_where_it_stands_among_them_and_which_is_next(
    client: Client, people: dict[str, User], project: Project
) -> None:
    person = Membership.objects.get(project=project, user=people["annotator"])
    given = [answer(person, claim(person).lease) for _ in range(2)]
    first, second = (one.solution_id for one in given)
    client.force_login(people["annotator"])

    def told(solution: int) -> Any:
        return client.get(f"/p/algebra/label/{solution}/").context["config"]["sentBack"]

    assert told(first) is None
    send_back(by=people["reviewer"], annotation=given[0], reason="Look at step 2.")
    assert told(first) == {"reason": "Look at step 2.", "place": 1, "of": 1, "nextUrl": None}
    send_back(by=people["reviewer"], annotation=given[1], reason="And here?")
    assert told(first)["nextUrl"] == f"/p/algebra/label/{second}/"
    assert told(second) == {"reason": "And here?", "place": 2, "of": 2, "nextUrl": f"/p/algebra/label/{first}/"}
    where = client.get("/p/algebra/label/").context["config"]["sentBackUrl"]
    assert 'id="sent-back"' in client.get(where.partition("#")[0]).content.decode()
