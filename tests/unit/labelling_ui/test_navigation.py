"""The navigation: each role sees the pages that it may open, and the current one. Workers that are starting."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Project
from labelling_ui.templatetags.navigation import GROUPS


@pytest.mark.slow
@pytest.mark.parametrize("role", ["annotator", "reviewer", "manager"])
def test_what_is_shown_is_what_opens(client: Client, project: Project, people: dict[str, User], role: str) -> None:
    client.force_login(people[role])
    for _label, tabs in GROUPS:
        for tab in tabs:
            opens = client.get(reverse(tab.name, args=[project.slug])).status_code == 200
            assert opens == (role in tab.roles), tab.name


def test_a_group_leads_to_its_first_page_that_opens_and_one_page_alone_is_no_group(
    client: Client, project: Project, people: dict[str, User]
) -> None:
    client.force_login(people["reviewer"])
    page = client.get("/p/algebra/labels/").content.decode()
    assert '<a href="/p/algebra/queue/" aria-current="true">Labelling</a>' in page
    assert '<a href="/p/algebra/labels/" aria-current="page">Labels</a>' in page
    page = client.get("/p/algebra/solutions/").content.decode()
    assert '<a href="/p/algebra/solutions/" aria-current="page">Solutions</a>' in page
    assert "Data" not in page, "of the data a reviewer sees the solutions alone"


def test_an_annotator_has_one_page_of_their_own_in_one_place(
    client: Client, project: Project, people: dict[str, User]
) -> None:
    client.force_login(people["annotator"])
    response = client.get("/p/algebra/", follow=True)
    assert response.redirect_chain == [("/p/algebra/my-work/", 302)]
    page = response.content.decode()
    assert re.findall(r'<nav class="tabs.*?</nav>', page, re.DOTALL) == [
        '<nav class="tabs" aria-label="Pages of this project">\n'
        '  <a href="/p/algebra/my-work/" aria-current="page">Your work</a><a href="/p/algebra/labels/">Labels</a>\n'
        "</nav>"
    ]
    assert re.findall("<h1>.*</h1>", page) == ["<h1>Your work</h1>"]


def test_pages_say_so_while_workers_start(
    client: Client, project: Project, people: dict[str, User], settings: Any, tmp_path: Path
) -> None:
    client.force_login(people["manager"])
    assert "The workers are still starting" not in client.get("/").content.decode(), "nobody here awaits workers"
    settings.AWAITED_WORKERS = [tmp_path / "default.ready", tmp_path / "gpu.ready"]
    settings.AWAITED_WORKERS[0].touch()
    assert "The workers are still starting" in client.get("/").content.decode()
    settings.AWAITED_WORKERS[1].touch()
    assert "The workers are still starting" not in client.get("/").content.decode()
