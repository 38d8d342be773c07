"""A manager goes from a file to a dataset, in a real browser."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.models import Project
from tests.plugins.workers import Workers

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """ProcessBench records with their labels, the last one without its problem."""
    records: list[dict[str, Any]] = [
        {
            "id": f"algebra-{n}",
            "generator": "model-a",
            "problem": f"What is {n} times {n + 1}?",
            "steps": [f"We multiply {n} by {n + 1}.", f"That is {n * (n + 1)}."],
            "final_answer_correct": True,
            "label": -1,
        }
        for n in range(30)
    ]
    records.append({"id": "broken", "steps": ["?"], "final_answer_correct": True, "label": -1})
    path = tmp_path / "algebra.json"
    path.write_text(json.dumps(records))
    return path


def test_from_a_file_to_a_dataset(
    page_for: Callable[..., Page],
    project: Project,
    people: dict[str, User],
    file: Path,
    celery_workers: Workers,
    tmp_path: Path,
) -> None:
    """Import with a rejected line, open the first generation, add a member, and export the labels of the file."""
    page = page_for(people["manager"])
    page.goto("/")
    page.get_by_role("link", name="Manage").click()
    page.get_by_role("link", name="Import solutions").click()
    page.get_by_label("File").set_input_files(file)
    page.get_by_role("button", name="Import the files").click()

    page.wait_for_url("**/imports/*/")
    expect(page.get_by_role("link", name="Open the overview")).to_be_visible()
    expect(page.locator(".figure", has_text="Accepted").locator(".value")).to_have_text("30")
    expect(page.locator(".figure", has_text="Rejected").locator(".value")).to_have_text("1")
    expect(page.get_by_role("row", name="31 problem Object missing required field `problem`")).to_be_visible()

    page.get_by_role("link", name="Open the overview").click()
    open_first = page.get_by_role("button", name="Open the first generation")
    expect(open_first.or_(page.get_by_text("Generation 0 is being labelled"))).to_be_visible()
    if open_first.is_visible():
        open_first.click()
    page.get_by_role("link", name="Model", exact=True).click()
    page.get_by_role("link", name="Generations").click()
    expect(page.get_by_role("link", name="control")).to_be_visible()

    page.get_by_role("link", name="Members").click()
    page.get_by_label("User name").fill("nina")
    page.get_by_role("button", name="Add to the project").click()
    expect(page.locator(".secret")).to_be_visible()
    expect(page.get_by_role("rowheader", name="nina")).to_be_visible()

    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("link", name="Datasets").click()
    page.get_by_role("link", name="Share publicly").click()
    expect(page.locator("#dataset-preview")).to_contain_text("30")
    page.get_by_role("button", name="Create a snapshot").click()
    expect(page.get_by_role("link", name="Open the snapshot")).to_be_visible()
    expect(page.locator("#list").get_by_role("row")).to_have_count(2)  # the list shows it without a reload
    page.get_by_role("button", name="Download").click()
    for format in ("PRM800K", "TRL"):
        with page.expect_download() as download:
            page.get_by_role("link", name=format, exact=True).click()
        saved = tmp_path / f"{format}.jsonl"
        download.value.save_as(saved)
        assert len(saved.read_text().splitlines()) == 30
