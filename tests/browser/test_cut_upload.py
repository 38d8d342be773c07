"""Uploads from the import page over connections that break."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, Route, expect

from annotation.models import ImportJob, Project, Upload
from tests.plugins.workers import Workers
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)

PIECE = 16_000


def choose(page: Page, project: Project, file: Path) -> None:
    page.goto(f"/p/{project.slug}/import/")
    page.evaluate(f"document.querySelector('form[data-uploads]').dataset.piece = {PIECE}")
    page.get_by_label("Files").set_input_files(file)


def test_an_upload_that_is_cut_goes_on_and_goes_on_after_a_reload(
    page_for: Callable[..., Page], project: Project, people: dict[str, User], file: Path, celery_workers: Workers
) -> None:
    page = page_for(people["manager"])
    sent: list[int] = []

    def cut_each_second(route: Route) -> None:
        if route.request.method != "PATCH":
            route.continue_()
            return
        sent.append(int(route.request.headers["upload-offset"]))
        if len(sent) % 2:
            route.continue_()
        else:
            route.abort("connectionreset")

    page.route("**/api/v1/uploads/**", cut_each_second)
    choose(page, project, file)
    page.get_by_role("button", name="Import the files").click()
    expect(page.get_by_text("Connection lost.")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped. Choose the same file again to continue.")).to_be_visible()
    upload = Upload.objects.get()
    assert upload.offset == PIECE
    before = len(sent)
    choose(page, project, file)
    expect(page.get_by_text("These files have not been imported yet")).to_be_visible()
    page.get_by_role("button", name="Import the files").click()
    expect(page.get_by_role("heading", name="runs.jsonl")).to_be_visible()
    assert sent[before] == PIECE
    assert sorted(set(sent)) == list(range(0, file.stat().st_size, PIECE))
    job = ImportJob.objects.get()
    assert (job.total_bytes, Upload.objects.count()) == (file.stat().st_size, 0)
    until(lambda: ImportJob.objects.filter(state=ImportJob.State.DONE, accepted=40).exists())
