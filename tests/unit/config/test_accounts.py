"""A first password, made by whoever opened the account, opens nothing but the page to change it."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.core.membership.accounts import invite
from annotation.models import ApiToken, AuditEntry, Preference, Project
from tests.factories import MembershipFactory

pytestmark = pytest.mark.django_db

CHANGE, OWN = "/accounts/password/change/", "one-two-buckle-my-shoe"


@pytest.fixture
def project() -> Project:
    return MembershipFactory(role="manager").project


@pytest.fixture
def newcomer(project: Project) -> Client:
    """Somebody new, signed in by the password that came with the account."""
    _member, password = invite(by=project.memberships.get().user, project=project, username="nina", role="annotator")
    client = Client()
    client.post("/accounts/login/", {"login": "nina", "password": password})
    client.first = password
    return client


def test_whoever_is_new_chooses_a_password_before_they_get_any_page(newcomer: Client, project: Project) -> None:
    for address in ("/", "/tokens/", f"/p/{project.slug}/", f"/p/{project.slug}/label/"):
        assert newcomer.get(address).headers["Location"] == CHANGE
    page = newcomer.get(CHANGE).content.decode()
    assert "Choose your own" in page
    assert "Current password" in page
    assert "New Password" not in page, "labels have sentence case"
    assert newcomer.get("/accounts/logout/").status_code == 200

    sent = {"oldpassword": newcomer.first, "password1": OWN, "password2": OWN}
    assert newcomer.post(CHANGE, sent | {"password2": "another"}).status_code == 200, "refused"
    assert newcomer.get("/").headers["Location"] == CHANGE
    assert newcomer.post(CHANGE, sent).headers["Location"] == "/"
    assert newcomer.get("/").status_code == 200
    assert AuditEntry.objects.filter(by__username="nina", action="account.password").count() == 1


def test_the_page_that_somebody_new_came_for_opens_afterwards(newcomer: Client, project: Project) -> None:
    """A manager sends people the address of the workbench; the list of projects opened instead."""
    address = f"/p/{project.slug}/label/?from=mail"
    assert newcomer.get(address).headers["Location"] == CHANGE
    sent = {"oldpassword": newcomer.first, "password1": OWN, "password2": OWN}
    assert newcomer.post(CHANGE, sent).headers["Location"] == address
    assert newcomer.post(CHANGE, sent | {"oldpassword": OWN}).headers["Location"] == "/"


def test_nor_does_the_api_answer_them_before_that(newcomer: Client, project: Project) -> None:
    refused = [newcomer.get("/api/v1/projects/"), newcomer.post("/api/v1/tokens/", {"name": "mine"})]
    refused += [newcomer.post(f"/api/v1/projects/{project.slug}/claim/", {"holding": []}, "application/json")]
    assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [(403, "first_password")] * 3
    assert "Choose your own password first" in refused[0].json()["message"]
    assert not ApiToken.objects.exists()

    newcomer.post(CHANGE, {"oldpassword": newcomer.first, "password1": OWN, "password2": OWN})
    assert newcomer.get("/api/v1/projects/").status_code == 200


def test_an_account_that_was_there_keeps_its_password(project: Project) -> None:
    ada = User.objects.create_user("ada", password=OWN)
    invite(by=project.memberships.get().user, project=project, username="ada", role="annotator")
    assert not Preference.objects.filter(user=ada).exists()
    client = Client()
    client.post("/accounts/login/", {"login": "ada", "password": OWN})
    assert client.get("/").status_code == 200


def test_names_that_differ_only_in_case_lock_nobody_out(client: Client) -> None:
    User.objects.create_user("ada", password=OWN)
    assert client.login(username="Ada", password=OWN), "case is ignored"
    User.objects.create_user("Ada", password="another")
    assert client.login(username="ada", password=OWN)
    assert client.login(username="Ada", password="another")
    assert not client.login(username="Ada", password=OWN)


def test_whoever_forgot_a_password_is_told_whom_to_ask_and_led_to_no_e_mail(client: Client) -> None:
    page = client.get("/accounts/login/").content.decode()
    assert "Ask your operator for a new one." in page
    assert "/password/reset/" not in page


def test_the_page_to_sign_in_speaks_of_the_user_name_as_other_pages_do() -> None:
    client = Client()
    page = client.get("/accounts/login/").content.decode()
    refused = client.post("/accounts/login/", {"login": "nobody", "password": "wrong"}).content.decode()
    german = client.get("/accounts/login/", headers={"Accept-Language": "de"}).content.decode()
    assert ">User name</label>" in page
    assert "The user name or the password is wrong." in refused
    assert "Username" not in page + refused
    assert ">Benutzername</label>" in german
