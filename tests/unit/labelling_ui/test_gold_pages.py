"""The Gold page, a person's page, and gold on other pages."""

import csv

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.models import GoldAnswer, Membership, Project, QueueItem, ScreeningDecision
from annotation.work.queue.leases import release
from tests.factories import AnnotationFactory, LabelSourceFactory, MembershipFactory
from tests.manager_world import label, make_solution
from tests.unit.annotation.work.queue.gold_world import claim, make_gold, work
from tests.unit.labelling_ui.settings_form import as_opened, errors_of


@pytest.fixture
def known(project: Project) -> list[int]:
    """Solutions of a file of people's labels; returns the ids of these labels."""
    source = LabelSourceFactory(project=project, kind="human", name="expert")
    made = [
        AnnotationFactory(
            solution=make_solution(project, 100 + n),
            annotator=None,
            source=source,
            first_error=1,
            finish_reason="found_error",
        )
        for n in range(4)
    ]
    return [one.pk for one in made]


def page(client: Client, address: str) -> str:
    response = client.get(f"/p/algebra/{address}")
    assert response.status_code == 200
    return response.content.decode()


def test_many_are_marked_at_once_listed_filtered_downloaded_and_retired(
    client: Client, people: dict[str, User], project: Project, known: list[int]
) -> None:
    client.force_login(people["reviewer"])
    assert "No gold yet" in page(client, "gold/")
    told = client.post("/p/algebra/gold/mark-many/", {"kinds": ["human"], "most": 3}, follow=True).content.decode()
    assert "3 solutions became gold" in told
    assert GoldAnswer.objects.filter(active=True).count() == 3
    first = GoldAnswer.objects.earliest("pk")
    client.post(f"/p/algebra/gold/{first.pk}/retire/", {"reason": "unclear"})
    assert [row.pk for row in client.get("/p/algebra/gold/?state=retired").context["listing"].page] == [first.pk]
    lines = client.get("/p/algebra/gold/?download=csv&sort=solution").getvalue().decode().splitlines()
    assert [row["state"] for row in csv.DictReader(lines)] == ["retired", "hidden", "hidden"]
    assert "No gold matches" in page(client, "gold/?domain=geometry")


def test_nothing_is_marked_where_nothing_is_known(client: Client, people: dict[str, User], project: Project) -> None:
    client.force_login(people["manager"])
    told = client.post("/p/algebra/gold/mark-many/", {"kinds": ["adjudicated"], "most": 3}, follow=True)
    assert "Every labelled solution is already gold" in told.content.decode()
    told = client.post("/p/algebra/gold/mark-many/", {"most": 0}, follow=True).content.decode()
    assert "Number of solutions: Ensure this value is greater than or equal to 1." in told
    assert "Labels from: This field is required." in told


def test_one_is_marked_on_its_own_page_with_other_answers_that_count(
    client: Client, people: dict[str, User], project: Project
) -> None:
    """A reviewer's own label can become gold, an annotator's cannot."""
    client.force_login(people["reviewer"])
    item = QueueItem.objects.filter(project=project, done=0).first()
    assert item is not None
    own = label(item, Membership.objects.get(project=project, user=people["reviewer"]), first_error=1)
    address = reverse("solution", args=["algebra", item.solution_id])
    assert "Make gold" in client.get(address).content.decode()
    client.post("/p/algebra/gold/mark/", {"annotation": own.pk, "accepted": "3, none", "use": "hidden"})
    gold = GoldAnswer.objects.get()
    assert (gold.annotation, gold.accepted) == (own, [-1, 2])
    shown = client.get(address).content.decode()
    assert "This solution is gold" in shown
    assert 'value="none, 3"' in shown, "a change of the use leaves them"
    client.post("/p/algebra/gold/mark/", {"annotation": own.pk, "accepted": "third"})
    gold.refresh_from_db()
    assert gold.accepted == [-1, 2], "what is not understood changes nothing"
    assert client.post("/p/algebra/gold/mark/", {"annotation": 10**9}).status_code == 404


def test_labels_that_may_be_gold_have_a_button(
    client: Client, people: dict[str, User], known: list[int], project: Project
) -> None:
    client.force_login(people["manager"])
    shown = page(client, "labels/")
    assert shown.count("Make gold") == len(known)
    client.post("/p/algebra/gold/mark/", {"annotation": known[0], "use": "hidden"})
    assert GoldAnswer.objects.get().annotation_id == known[0]


def test_a_persons_page_shows_their_answers_and_lets_a_manager_decide(
    client: Client, people: dict[str, User], project: Project, known: list[int]
) -> None:
    project.policy |= {"gold": {"share": 0.5}, "screening": {"items": 2, "pass_mark": 2}}
    project.save()
    client.force_login(people["manager"])
    client.post("/p/algebra/gold/mark-many/", {"kinds": ["human"], "most": 4})
    person = Membership.objects.get(project=project, user=people["annotator"])
    assert work(person, 2), "ordinary work and gold"
    shown = page(client, f"members/{person.pk}/gold/")
    assert "They need no screening" in strip_tags(shown)
    assert client.get(f"/p/algebra/members/{person.pk}/gold/").context["accuracy"].right.of == 1
    client.post(f"/p/algebra/members/{person.pk}/screen/", {"outcome": "paused", "reason": "let us talk"})
    assert ScreeningDecision.objects.get().outcome == "paused"
    assert "No. They are paused" in page(client, f"members/{person.pk}/gold/")
    members = page(client, "members/")
    assert ">paused<" in members
    assert f"/p/algebra/members/{person.pk}/gold/" in members
    assert [one.pk for one, _ in client.get("/p/algebra/quality/").context["gold"]] == [person.pk]
    assert client.get("/p/algebra/members/999999/gold/").status_code == 404
    client.force_login(people["reviewer"])
    assert "member-screen" not in page(client, f"members/{person.pk}/gold/")
    assert client.post(f"/p/algebra/members/{person.pk}/screen/", {"outcome": "passed"}).status_code == 403


def test_the_overview_names_whom_the_policy_kept_out(client: Client, people: dict[str, User], project: Project) -> None:
    person = Membership.objects.get(project=project, user=people["annotator"])
    ScreeningDecision.objects.create(membership=person, outcome="failed", right=0, given=2)
    client.force_login(people["manager"])
    assert "person who failed the screening" in page(client, "")
    ScreeningDecision.objects.create(membership=person, outcome="failed", by=people["manager"])
    assert "person who failed the screening" not in page(client, "")


def test_a_skipped_solution_of_a_screening_is_not_called_answered(
    client: Client, people: dict[str, User], project: Project
) -> None:
    project.policy |= {"gold": {"share": 0}, "screening": {"items": 3, "pass_mark": 2}}
    project.save()
    make_gold(project, 4)
    person = MembershipFactory(project=project)
    work(person, 1)
    lease = claim(person).lease
    assert lease is not None
    release(by=person.user, lease_id=lease.pk, reason="too hard")
    client.force_login(people["reviewer"])
    shown = page(client, f"members/{person.pk}/gold/")
    assert "1 of 3 answered, 1 right, 2 needed to pass." in shown
    assert "They skipped 1, which counts as wrong." in shown


def test_settings_keep_gold_and_screening_and_name_the_field_that_is_wrong(
    client: Client, people: dict[str, User], project: Project
) -> None:
    client.force_login(people["manager"])
    form = as_opened(client, "quality")
    client.post("/p/algebra/settings/quality/", form | {"share": 0.1, "items": 10, "pass_mark": 8, "feedback": "on"})
    project.refresh_from_db()
    assert (project.policies.gold.share, project.policies.screening.items) == (0.1, 10)
    assert project.policies.screening.feedback is True
    wrong = client.post("/p/algebra/settings/quality/", form | {"share": 0.9})
    assert "share" in errors_of(wrong)
    wrong = client.post("/p/algebra/settings/quality/", form | {"items": 3, "pass_mark": 4})
    assert "The pass mark 4 is higher than the 3 items" in wrong.content.decode()


def test_too_little_gold_for_the_screening_is_said(client: Client, people: dict[str, User], project: Project) -> None:
    project.policy |= {"screening": {"items": 5, "pass_mark": 2}}
    project.save()
    client.force_login(people["manager"])
    assert "Screening needs 5 gold solutions, but only 0 are active" in page(client, "gold/")


@pytest.mark.parametrize(("feedback", "shown"), [(True, 1), (False, 0)])
def test_people_see_afterwards_which_screening_answers_were_right_where_the_policy_says_so(
    client: Client, people: dict[str, User], project: Project, known: list[int], feedback: bool, shown: int
) -> None:
    project.policy |= {"screening": {"items": 2, "pass_mark": 2, "feedback": feedback}}
    project.save()
    client.force_login(people["manager"])
    client.post("/p/algebra/gold/mark-many/", {"kinds": ["human"], "most": 4})
    new = MembershipFactory(project=project)
    client.force_login(new.user)
    work(new, 2, first_error=-1)
    assert page(client, "my-work/").count('id="screening"') == 0, "not before it is decided"
    work(new, 1)
    assert page(client, "my-work/").count('id="screening"') == shown
    assert len(client.get("/p/algebra/my-work/").context["screening"]) == 2 * shown
