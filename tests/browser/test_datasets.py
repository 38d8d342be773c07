"""The page of datasets by keyboard, wide and narrow: a purpose, its preview, and the menu of downloads."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Project, Snapshot
from tests import manager_world
from tests.browser.axe import violations

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project(people: dict[str, User], settings: Any, tmp_path: Path) -> Project:
    settings.STATE_ROOT = tmp_path
    project = manager_world.create_empty_project(people)
    manager_world.fill(project, people)
    return project


@pytest.mark.parametrize("width", [1280, 400])
def test_a_manager_sees_what_a_dataset_would_have_and_downloads_it_by_keyboard(
    page_for: Callable[..., Page], project: Project, people: dict[str, User], width: int
) -> None:
    create_snapshot(by=people["manager"], project=project, filters={"source_kinds": ["human"]})
    page = page_for(people["manager"], viewport={"width": width, "height": 800}, reduced_motion="reduce")
    page.goto("/p/algebra/datasets/")
    preview, status = page.locator("#dataset-preview"), page.locator("#preview-status")
    expect(status).to_have_text("Solutions in the dataset: 1. Labels: 2.")
    expect(preview.get_by_text("TRL", exact=True)).to_be_visible()

    purpose = page.get_by_role("link", name="Archive everything")
    purpose.focus()
    page.keyboard.press("Enter")
    expect(purpose).to_have_attribute("aria-current", "true")
    expect(purpose).to_be_focused()
    expect(status).to_have_text("Solutions in the dataset: 3. Labels: 2.")
    expect(page).to_have_url(re.compile(r"\?preset=archive$"))

    page.locator("summary", has_text="from the purpose").press("Enter")
    page.get_by_label("Minimum labels per solution").fill("2")
    expect(status).to_have_text("Solutions in the dataset: 1. Labels: 2.")
    page.get_by_label("gold", exact=True).press("Space")
    expect(preview).to_contain_text("No label passes these filters")
    assert Snapshot.objects.count() == 1, "a preview makes nothing"

    button = page.get_by_role("button", name="Download")
    button.press("Enter")
    link = page.get_by_role("link", name="PRM800K", exact=True)
    expect(link).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    with page.expect_download() as download:
        link.press("Enter")
    assert download.value.suggested_filename.endswith("-prm800k.jsonl")
    page.keyboard.press("Escape")
    expect(link).to_be_hidden()
    expect(button).to_be_focused()
