"""Figures of a large project are stored with their time; those of a small one are computed for each request."""

import re
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as current
from django.core.cache import cache
from django.test import Client

from annotation.models import Project
from labelling_ui import cached_figures
from tests import manager_world
from tests.mute_redis import mute_redis

pytestmark = pytest.mark.django_db
PENDING = "Computing the figures of this page"
TARGET = {"HX-Request": "true", "HX-Target": "figures-age"}


@pytest.fixture
def large(project: Project, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of the project's page, in a project that counts as large."""
    monkeypatch.setattr(cached_figures, "MOST_LABELS", 0)
    cache.clear()
    return f"/p/{project.slug}/"


def read(client: Client, address: str, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def total_on(client: Client, address: str) -> int:
    """The number of labels that the page shows."""
    total: int = client.get(address).context["progress"].total
    return total


def label_one_more(project: Project) -> None:
    member = project.memberships.get(user__username="annotator")
    manager_world.label(project.queue_items.order_by("-pk").first(), member, first_error=-1)


def test_a_small_project_computes_its_figures_for_each_request(manager: Client, project: Project) -> None:
    address = f"/p/{project.slug}/"
    before = total_on(manager, address)
    label_one_more(project)
    assert total_on(manager, address) == before + 1
    assert "figures-age" not in read(manager, address)


def test_a_large_project_shows_a_page_at_once_that_fetches_the_figures(manager: Client, large: str) -> None:
    html = read(manager, large)
    assert PENDING in html
    assert 'hx-get="?again=1"' in html
    assert PENDING not in read(manager, f"{large}?again=1")
    assert PENDING not in read(manager, large)


def test_stored_figures_are_shown_with_their_time_until_they_are_computed_again(
    manager: Client, large: str, project: Project
) -> None:
    before = total_on(manager, f"{large}?again=1")
    label_one_more(project)
    assert total_on(manager, large) == before
    assert "Figures as of" in age_of(read(manager, large))
    assert total_on(manager, f"{large}?again=1") == before + 1


def test_old_figures_are_computed_in_the_background_and_then_offered(
    manager: Client, large: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "hx-get" not in age_of(read(manager, f"{large}?again=1"))
    monkeypatch.setattr(cached_figures, "MAX_AGE", timedelta(0))
    assert 'hx-get="?again=1"' in age_of(read(manager, large))
    assert "Newer figures are ready" in age_of(read(manager, f"{large}?again=1", **TARGET))


def age_of(html: str) -> str:
    found = re.search(r'<p id="figures-age".*?</p>', html, re.DOTALL)
    assert found
    return found.group()


def test_only_one_request_computes_a_figure_at_a_time(manager: Client, large: str, project: Project) -> None:
    before = total_on(manager, f"{large}?again=1")
    label_one_more(project)
    name = cached_figures.key_of(project, "overview")
    cache.set(f"{name}:busy", 1, 60)
    assert total_on(manager, f"{large}?again=1") == before
    cache.delete(f"{name}:busy")
    assert total_on(manager, f"{large}?again=1") == before + 1


@pytest.mark.parametrize("hangs", [False, True])
def test_a_large_project_computes_its_figures_for_each_request_without_redis(
    manager: Client, large: str, project: Project, settings: Any, hangs: bool
) -> None:
    with mute_redis() if hangs else nullcontext("redis://127.0.0.1:1/0") as address:
        settings.CACHES = without(address)
        assert PENDING in read(manager, large)
        before = total_on(manager, f"{large}?again=1")
        label_one_more(project)
        assert total_on(manager, f"{large}?again=1") == before + 1


def without(address: str) -> dict[str, Any]:
    """The caches of the settings, at the address of a Redis that does not respond."""
    patience = {"socket_timeout": 0.2, "socket_connect_timeout": 0.2}
    return {name: {**cache, "LOCATION": address, "OPTIONS": patience} for name, cache in current.CACHES.items()}


def test_a_file_has_fresh_figures(manager: Client, large: str) -> None:
    response = manager.get(f"{large}quality/agreement/?download=csv")
    assert b"".join(response).startswith(b"row,")  # type: ignore[arg-type]
