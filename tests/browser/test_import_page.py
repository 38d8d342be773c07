"""Uploads from the import page: several without a script, and one that cannot be read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.models import ImportJob, Project, Upload

pytestmark = pytest.mark.django_db(transaction=True)


def test_without_its_script_the_form_sends_several_files(
    page_for: Callable[..., Page], project: Project, people: dict[str, User], file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"problem": "p", "steps": ["a"]}')
    page = page_for(people["manager"], java_script_enabled=False)
    page.goto(f"/p/{project.slug}/import/")
    page.get_by_label("Files").set_input_files([file, other])
    page.get_by_role("button", name="Import the files").click()
    expect(page.get_by_role("heading", name="2 files")).to_be_visible()
    assert ImportJob.objects.filter(group__isnull=False).count() == 2


def test_a_file_that_cannot_be_read_keeps_its_upload_and_says_why(
    page_for: Callable[..., Page], project: Project, people: dict[str, User], tmp_path: Path
) -> None:
    page = page_for(people["manager"])
    odd = tmp_path / "odd.pdf"
    odd.write_bytes(b"%PDF-1.4\n\0")
    page.goto(f"/p/{project.slug}/import/")
    page.get_by_label("Files").set_input_files(odd)
    page.get_by_role("button", name="Import the files").click()
    expect(page.get_by_text("These files have not been imported yet")).to_be_visible()
    expect(page.get_by_text("Stepmark cannot read odd.pdf.").first).to_be_visible()
    assert Upload.objects.count() == 1
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_text("These files have not been imported yet")).to_be_hidden()
    assert not Upload.objects.exists()


def test_a_folder_shows_its_data_and_the_whole_names_of_its_files(
    page_for: Callable[..., Page], project: Project, people: dict[str, User], tmp_path: Path
) -> None:
    """The preview showed whichever file came first, and names that differ only at their ends looked the same."""
    folder = tmp_path / "runs"
    run = folder / "a-task-with-a-name-that-fills-the-column-of-names"
    run.mkdir(parents=True)
    (folder / "LICENSE.md").write_text("MIT")
    for name in ("first.jsonl", "second.jsonl"):
        (run / name).write_text(json.dumps({"problem": f"Of {name}", "steps": ["a", "b"]}))
    page = page_for(people["manager"])
    page.goto(f"/p/{project.slug}/import/")
    page.get_by_label("Folder").set_input_files(folder)
    expect(page.locator("#import-preview")).to_contain_text("Of second.jsonl")
    page.get_by_role("button", name="Import the files").click()
    expect(page.get_by_role("heading", name="3 files")).to_be_visible()
    for name in ("first.jsonl", "second.jsonl"):
        expect(page.get_by_role("link", name=f"runs/{run.name}/{name}", exact=True)).to_be_visible()
