"""The page that compares two snapshots."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Project
from labelling_ui import cached_figures
from tests.factories import SnapshotFactory
from tests.stored import snapshot_file

pytestmark = pytest.mark.django_db


def page(client: Client, project: Project, new: int, old: int) -> str:
    return reverse("snapshot-diff", args=[project.slug, new, old])


def test_the_reasons_and_the_changes_are_listed(client: Client, people: dict[str, User], project: Project) -> None:
    old = create_snapshot(by=None, project=project, filters={})
    person = project.memberships.get(user=people["annotator"])
    new = create_snapshot(by=None, project=project, filters={"annotators": [str(person.pseudonym)]})
    client.force_login(people["manager"])
    shown = client.get(page(client, project, new.pk, old.pk)).content.decode()
    assert "other filters" in shown
    assert "No differences" in client.get(page(client, project, old.pk, old.pk)).content.decode()


def test_other_projects_and_other_roles_see_nothing(client: Client, people: dict[str, User], project: Project) -> None:
    mine = create_snapshot(by=None, project=project, filters={})
    client.force_login(people["manager"])
    assert client.get(page(client, project, mine.pk, SnapshotFactory().pk)).status_code == 404
    client.force_login(people["reviewer"])
    assert client.get(page(client, project, mine.pk, mine.pk)).status_code == 403


def test_a_lost_file_is_reported_on_the_page_of_the_snapshot(
    client: Client, people: dict[str, User], project: Project
) -> None:
    snapshot = create_snapshot(by=None, project=project, filters={})
    snapshot_file(snapshot).unlink()
    client.force_login(people["manager"])
    answer = client.get(page(client, project, snapshot.pk, snapshot.pk), follow=True)
    assert answer.redirect_chain[0][0] == reverse("snapshot", args=[project.slug, snapshot.pk])
    assert "is missing from" in answer.content.decode()


def test_a_large_project_shows_the_stored_comparison(
    client: Client, people: dict[str, User], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = create_snapshot(by=None, project=project, filters={})
    monkeypatch.setattr(cached_figures, "MOST_LABELS", 0)
    cache.clear()
    client.force_login(people["manager"])
    address = page(client, project, snapshot.pk, snapshot.pk)
    assert "Computing the figures of this page" in client.get(address).content.decode()
    assert "No differences" in client.get(f"{address}?again=1").content.decode()
    snapshot_file(snapshot).unlink()
    assert "No differences" in client.get(address).content.decode()
