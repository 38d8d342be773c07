"""The whole loop as its users see it: label, retrain, the gate's verdict, the next generation, export.

Everything is real: the browser, the servers, the three Celery workers, the training subprocess.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.core.membership.projects import create_project
from annotation.management.demo import creation, demo_accounts
from annotation.management.demo.demo_accounts import publish_passwords
from annotation.models import Annotation, Generation, Lane, Project, QueueItem, TrainingRun
from tests.library import stay_in_process
from tests.rounds_world import QUICK
from tests.waiting import PATIENCE

LABELLED = 10
ROUND_MS = PATIENCE * 1000


@pytest.fixture
def demo(celery_workers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A small demo project, as the first `make run` creates it, with short trainings; workers run the next round."""
    monkeypatch.setattr(demo_accounts, "accounts_file", lambda: tmp_path / "demo_accounts.txt")
    monkeypatch.setitem(creation.POLICY, "training", QUICK)
    with pytest.MonkeyPatch.context() as here:
        stay_in_process(here)
        return creation.create_demo(say=lambda line: None, solutions=160, first_budget=80)


@pytest.fixture
def sign_in_by_form(demo: Project) -> Callable[[Page, str], None]:
    """Sign in with the password that `make run` prints."""
    passwords = dict(line.split() for line in publish_passwords().splitlines()[1:] if line.strip())

    def sign_in(page: Page, name: str) -> None:
        page.goto("/")
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(passwords[name])
        page.get_by_role("button", name="Sign in").click()

    return sign_in


def test_a_newcomer_sees_the_loop_turn(
    demo: Project, new_context: Callable[..., Any], sign_in_by_form: Callable[[Page, str], None], tmp_path: Path
) -> None:
    annotator, manager = new_context().new_page(), new_context(accept_downloads=True).new_page()
    before = Generation.objects.get(project=demo, state=Generation.State.OPEN)
    served = list(before.items.order_by("rank").values_list("solution_id", flat=True))

    sign_in_by_form(annotator, "annotator")
    annotator.get_by_role("link", name="Start labelling").click()
    for number in range(LABELLED):
        label_by_keyboard(annotator, first_error=number % 3 == 0)
        expect(annotator.get_by_text(f"{number + 1} today")).to_be_visible()
    expect(annotator.locator("[data-saved=saved]")).to_be_visible()
    mine = Annotation.objects.filter(annotator__user__username="annotator")
    assert mine.count() == LABELLED
    drawn = mine.exclude(lane=Lane.GOLD)  # gold is slipped in between
    assert set(drawn.values_list("solution_id", flat=True)) <= set(served)

    sign_in_by_form(manager, "manager")
    manager.get_by_role("link", name="Manage").click()
    manager.get_by_role("button", name="Retrain").click()
    expect(manager.get_by_role("heading", name="Run 2")).to_be_visible()
    expect(manager.get_by_role("link", name="Generation 2")).to_be_visible(timeout=ROUND_MS)
    run = TrainingRun.objects.get(project=demo, number=2)
    assert run.state == TrainingRun.State.DONE
    assert run.model_version is not None
    expect(manager.get_by_text(run.model_version.gate.sentence).first).to_be_visible()
    expect(manager.get_by_role("link", name="Model 2")).to_be_visible()

    after = Generation.objects.get(project=demo, state=Generation.State.OPEN)
    ready = after.items.filter(state=QueueItem.State.READY).order_by("rank")
    assert after.number == before.number + 1
    assert ready.exists()
    assert list(ready.values_list("solution_id", flat=True)) != served
    annotator.goto(f"/p/{demo.slug}/label/")
    expect(annotator.locator(".shown li.step").first).to_be_visible()

    exported = export(manager, demo, tmp_path, "PRM800K")
    expect(manager.get_by_text("which TRL cannot distinguish").first).to_be_visible()
    of_one_kind = export(manager, demo, tmp_path, "TRL", kind="simulated people")
    loaded = load_dataset("json", data_files=str(of_one_kind), split="train", cache_dir=str(tmp_path / "cache"))
    assert set(loaded.column_names) >= {"prompt", "completions", "labels"}
    assert all(len(row["completions"]) == len(row["labels"]) for row in loaded)
    assert any(False in row["labels"] for row in loaded)

    copy = create_project(by=User.objects.get(username="manager"), name="Copy", slug="copy")
    import_file(manager, copy, exported)
    assert labels_in(export(manager, copy, tmp_path, "PRM800K")) == labels_in(exported)


def label_by_keyboard(page: Page, *, first_error: bool) -> None:
    """Rate a solution without the mouse: an error at the first step, or none at all."""
    steps = page.locator(".shown li.step")
    expect(steps.first).to_be_visible()
    if first_error:
        page.keyboard.press("e")
    else:
        for _ in range(steps.count()):
            page.keyboard.press("1")
    page.keyboard.press("Enter")


def export(page: Page, project: Project, folder: Path, name: str, *, kind: str = "") -> Path:
    """Create a snapshot of everything, or of one kind of labels, and download it in a format."""
    page.goto(f"/p/{project.slug}/datasets/?preset=share")
    if kind:
        page.locator("summary", has_text="from the purpose").click()
        page.locator("[name=source_kinds]").and_(page.get_by_label(kind, exact=True)).check()
    page.get_by_role("button", name="Create a snapshot").click()
    page.get_by_role("link", name="Open the snapshot").click()
    with page.expect_download() as download:
        page.get_by_role("link", name=name, exact=True).click()
    file = folder / f"{project.slug}-{name}.jsonl"
    download.value.save_as(file)
    return file


def import_file(page: Page, project: Project, path: Path) -> None:
    page.goto(f"/p/{project.slug}/import/")
    page.get_by_label("Files").set_input_files(path)
    page.get_by_role("button", name="Import the files").click()
    expect(page.locator("#job")).to_contain_text("done", ignore_case=True)


def labels_in(path: Path) -> list[str]:
    """Each line's annotator, problem, ratings and finish reason."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    said = [[line["labeler"], line["question"]["problem"], line["label"]] for line in lines]
    return sorted(json.dumps(one, sort_keys=True) for one in said)
