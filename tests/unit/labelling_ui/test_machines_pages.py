"""A manager adds a machine annotator, changes its prompt, and issues tokens that are shown once."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import ApiToken, MachineAnnotator, Project
from tests.factories import MachineAnnotatorFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_project")]
MEMBERS = "/p/algebra/members/"
SETUP = {"model_name": "qwen-72b", "prompt_version": "2", "family": "", "cost_per_label": "0.02"}


def test_it_is_added_changed_and_retired(manager: Client, empty_project: Project) -> None:
    taken = manager.post(f"{MEMBERS}new-machine/", SETUP | {"name": "manager"})
    assert "name" in taken.context["form"].errors
    made = manager.post(f"{MEMBERS}new-machine/", SETUP | {"name": "judge"})
    machine = MachineAnnotator.objects.get()
    page = f"{MEMBERS}{machine.membership_id}/machine/"
    assert made["Location"] == page
    assert (machine.family, machine.cost_per_label, machine.source.name) == ("qwen", 0.02, "qwen-72b, prompt 2")
    manager.post(page, SETUP | {"prompt_version": "3", "family": "qwen"})
    machine.refresh_from_db()
    assert (machine.family, machine.source.name) == ("qwen", "qwen-72b, prompt 3")
    shown = manager.get(f"{MEMBERS}{machine.membership_id}/gold/").content.decode()
    assert "prompt 3" in shown
    assert "Screen again" not in shown
    manager.post(f"{MEMBERS}{machine.membership_id}/", {"role": "removed"})
    machine.membership.refresh_from_db()
    assert not machine.membership.active


def test_its_token_is_shown_once_and_revoked(manager: Client, empty_project: Project) -> None:
    machine = MachineAnnotatorFactory(membership__project=empty_project)
    page = f"{MEMBERS}{machine.membership_id}/machine/"
    shown = manager.post(f"{page}tokens/", {"token_name": "loop"}).content.decode()
    assert re.search(r"stepmark_[\w-]{40,}", shown)
    assert "stepmark_" not in manager.get(page).content.decode()
    token = ApiToken.objects.get()
    assert (token.user, token.scopes) == (machine.membership.user, ["claim", "submit"])
    mine = ApiToken.objects.create(user=User.objects.get(username="manager"), name="own", scopes=["read"], digest="x")
    assert manager.post(f"{page}tokens/{mine.pk}/revoke/").status_code == 404
    manager.post(f"{page}tokens/{token.pk}/revoke/")
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_members_are_listed_by_their_kind(manager: Client, empty_project: Project) -> None:
    machine = MachineAnnotatorFactory(membership__project=empty_project, membership__user__username="judge").membership
    for kind, named in (("machine", {"judge (machine)"}), ("simulated", set())):
        listing = manager.get(f"{MEMBERS}?kind={kind}").context["listing"]
        assert {row.shown_name for row in listing} == named
    people = manager.get(f"{MEMBERS}?kind=person").context["listing"]
    assert machine not in set(people)
    assert "judge (machine)" in manager.get("/p/algebra/labels/").content.decode()


def test_a_person_chooses_the_scopes_of_a_token(manager: Client) -> None:
    assert manager.get("/tokens/").context["form"]["scopes"].initial == ("read", "score")
    manager.post("/tokens/", {"name": "trainer", "scopes": ["train", "read"]})
    assert ApiToken.objects.get().scopes == ["read", "train"]
    assert "read, train" in manager.get("/tokens/").content.decode()
    without = manager.post("/tokens/", {"name": "nothing"})
    assert "scopes" in without.context["form"].errors
