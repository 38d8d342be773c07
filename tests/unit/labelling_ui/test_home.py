"""The list of projects, and signing in."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.core.membership.members import add_member
from annotation.core.membership.projects import create_project
from annotation.models import Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager() -> User:
    return User.objects.create_user("mara", password="mara-secret", is_staff=True)


def test_a_stranger_is_asked_to_sign_in(client: Client) -> None:
    response = client.get("/", follow=True)
    assert response.redirect_chain[0][0] == "/accounts/login/?next=/"
    assert "Use the name and password" in response.content.decode()


def test_an_annotator_starts_labelling_from_the_first_page(client: Client, manager: User) -> None:
    project = create_project(by=manager, name="Algebra pilot", slug="algebra")
    annotator = User.objects.create_user("ann")
    add_member(by=manager, project=project, user=annotator, role="annotator")
    client.force_login(annotator)
    page = client.get("/").content.decode()
    assert 'href="/p/algebra/label/"' in page
    assert "Start labelling" in page
    assert "New project" not in page


def test_whoever_has_no_project_reads_what_to_do(client: Client, manager: User) -> None:
    client.force_login(User.objects.create_user("newcomer"))
    assert "Ask the manager of a project to add you" in client.get("/").content.decode()
    client.force_login(manager)
    assert "Create a project" in client.get("/").content.decode()


def test_staff_and_managers_create_a_project_and_others_do_not(client: Client, manager: User) -> None:
    client.force_login(manager)
    response = client.post("/projects/new/", {"name": "Algebra pilot", "empty": "1"})
    assert response.headers["Location"] == "/p/algebra-pilot/"
    again = client.post("/projects/new/", {"name": "Algebra pilot", "empty": "1"})
    assert again.headers["Location"] == "/p/algebra-pilot-2/"
    taken = {"name": "Another", "slug": "algebra-pilot"}
    refused = client.post("/api/v1/projects/", taken, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (409, "slug_taken")
    assert "There is already a project with the address" in refused.json()["message"]
    project = Project.objects.get(slug="algebra-pilot")
    for role, answer in {"manager": 200, "reviewer": 403, "annotator": 403}.items():
        member = User.objects.create_user(role)
        add_member(by=manager, project=project, user=member, role=role)
        client.force_login(member)
        assert client.get("/projects/new/").status_code == answer
        preview = client.post("/projects/new/preview/", {"source": "text", "text": "p\n\na"})
        assert preview.status_code == answer
        assert ("New project" in client.get("/").content.decode()) == (answer == 200)
        wanted = {"name": "Mine", "slug": f"of-{role}"}
        made = client.post("/api/v1/projects/", wanted, content_type="application/json")
        assert made.status_code == (201 if answer == 200 else 403)
    client.force_login(User.objects.create_user("ann"))
    assert client.get("/projects/new/").status_code == 403


def test_a_name_with_a_space_is_not_two_people(client: Client, manager: User) -> None:
    client.force_login(manager)
    refused = client.post("/projects/new/", {"name": "Pilot", "empty": "1", "people": "ana, Ben Smith; carl"})
    assert "“Ben Smith” is not a user name" in refused.content.decode()
    assert not Project.objects.exists()
    client.post("/projects/new/", {"name": "Pilot", "empty": "1", "people": " ana,, BenSmith ; carl, ana "})
    members = User.objects.filter(memberships__role="annotator").order_by("username")
    assert [user.username for user in members] == ["BenSmith", "ana", "carl"]


def test_a_form_that_is_sent_too_late_says_what_to_do(manager: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(manager)
    response = client.post("/projects/new/", {"name": "Algebra pilot"})
    assert response.status_code == 403
    assert "Go back, reload the page" in response.content.decode()


def test_what_is_not_yours_is_not_there(client: Client, manager: User) -> None:
    create_project(by=manager, name="Algebra pilot", slug="algebra")
    client.force_login(User.objects.create_user("stranger"))
    response = client.get("/p/algebra/")
    assert response.status_code == 404
    assert "not a member of the project" in response.content.decode()


def test_an_empty_project_shows_the_next_step_and_nothing_else(client: Client, manager: User) -> None:
    create_project(by=manager, name="Algebra pilot", slug="algebra")
    client.force_login(manager)
    page = client.get("/p/algebra/").content.decode()
    assert 'class="button primary" href="/p/algebra/import/"' in page
    for other in ("Needs attention", "Agreement on the first error", "Retrain", "Cost of a label"):
        assert other not in page
