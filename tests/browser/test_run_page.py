"""The page of a run in each of its states, with its actions."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import expect

from annotation.loop.rounds import failures, runs
from annotation.loop.rounds.artefacts import run_folder
from annotation.models import Project, RunPoint, RunStage, TrainingRun
from tests import manager_world
from tests.factories import make_verdict
from tests.rounds_world import folders

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(settings, tmp_path, monkeypatch) -> dict[str, User]:
    folders(settings, tmp_path)
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: None)
    monkeypatch.setattr(runs, "check_labels", lambda project: None)
    return manager_world.create_people()


@pytest.fixture
def project(people: dict[str, User]) -> Project:
    project = manager_world.create_empty_project(people)
    project.policy = {"rounds": {"cron": "0 3 * * *", "time_zone": "Europe/Zurich", "quiet_hours": ["00:00-24:00"]}}
    project.save()
    return project


@pytest.fixture
def in_training(project: Project, people: dict[str, User]) -> TrainingRun:
    """A run in the middle of its training, with a recent heartbeat."""
    run = runs.request_run(by=people["manager"], project=project)
    now = timezone.now()
    TrainingRun.objects.filter(pk=run.pk).update(state="running", started_at=now, heartbeat_at=now)
    run.stages.filter(name="snapshot").update(state="done", figure="60 labelled solutions", seconds=2, finished_at=now)
    run.stages.filter(name="train").update(
        state="running", started_at=now - timedelta(seconds=40), seconds=40, progress=0.4
    )
    for step in range(1, 41):
        RunPoint.objects.create(
            run=run, stage="train", step=step, of=100, loss=0.7 - step / 100, tokens_per_second=51200, utilisation=0.31,
            held_loss=0.72 - step / 110 if step % 10 == 0 else None,
            message=f"epoch {step // 10} of 10" if step % 10 == 0 else "",
        )  # fmt: skip
    run_folder(run).mkdir(parents=True)
    (run_folder(run) / "train.jsonl").write_text("{}\n")
    (run_folder(run) / "train.log").write_text("a word of the trainer\n")
    run.refresh_from_db()
    return run


def test_a_run_in_training_shows_where_it_is_and_is_cancelled(page_for, people, in_training):
    page = page_for(people["manager"])
    page.goto(f"/p/algebra/runs/{in_training.number}/")
    expect(page.get_by_text("40 / 100")).to_be_visible()
    expect(page.get_by_text("51,200")).to_be_visible()
    expect(page.get_by_text("31.0 %")).to_be_visible()
    expect(page.get_by_text("Requested by manager. The quiet hours never end")).to_be_visible()
    page.get_by_text("Files", exact=True).click()
    with page.expect_download() as file:
        page.get_by_role("link", name="train.jsonl").click()
    assert Path(file.value.path()).read_text() == "{}\n"
    with page.expect_download() as log:
        page.get_by_role("link", name="Download the full log").click()
    written = Path(log.value.path()).read_text()
    assert "train 40/100 epoch 4 of 10 loss=0.3 held=" in written
    assert written.endswith("a word of the trainer\n")
    page.get_by_text("Numbers", exact=True).click()
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    cancel.focus()
    for _poll in range(2):
        page.wait_for_event("response")
    expect(cancel).to_be_focused()
    expect(page.get_by_role("columnheader", name="held out")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_a_failed_run_says_what_to_do_and_is_retried(page_for, people, in_training):
    code, said = failures.explain("train", OSError(28, "No space left on device"))
    in_training.stages.filter(name="train").update(state=RunStage.State.FAILED, finished_at=timezone.now())
    TrainingRun.objects.filter(pk=in_training.pk).update(
        state="failed", failure=code, error=said, finished_at=timezone.now()
    )
    page = page_for(people["manager"])
    page.goto(f"/p/algebra/runs/{in_training.number}/")
    expect(page.get_by_role("alert")).to_contain_text("The champion keeps serving. Free space")
    expect(page.get_by_role("link", name="Fix it")).to_have_attribute("href", "/p/algebra/settings/training/")
    page.get_by_role("button", name="Retry from the failed stage").click()
    expect(page.get_by_text("retried once")).to_be_visible()
    in_training.refresh_from_db()
    assert in_training.state == "queued"


def test_promoted_and_kept_back_have_a_picture_of_the_verdict(page_for, people, project):
    run, version = manager_world.make_run(project, people["manager"])
    page = page_for(people["reviewer"])
    page.goto(f"/p/{run.project.slug}/runs/{run.number}/")
    expect(page.get_by_text("Model 1 is promoted: ProcessBench F1 +8.0 points.")).to_be_visible()
    expect(page.get_by_role("button", name="Retry from the failed stage")).to_have_count(0)
    expect(page.get_by_text("Files", exact=True)).to_have_count(0)
    samples = [-0.06 + 0.004 * n for n in range(25)]
    version.gate = make_verdict(promote=False, gain=-0.01, low=-0.05, high=0.03, samples=samples)
    version.save()
    page.goto(f"/p/{run.project.slug}/runs/{run.number}/")
    expect(page.get_by_label("Gain in holdout F1, in points")).to_be_visible()


def test_the_runs_page_says_when_the_next_round_begins_and_the_settings_when_its_schedule_comes(
    page_for, people, project
):
    page = page_for(people["manager"])
    page.goto("/p/algebra/runs/")
    expect(page.get_by_text("Held back: The quiet hours never end")).to_be_visible()
    page.goto("/p/algebra/settings/rounds/")
    expect(page.get_by_text("Next scheduled rounds:")).to_contain_text("03:00")
    page.get_by_label("Schedule").fill("every morning")
    page.get_by_label("Quiet hours").fill("at night")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("is not a schedule")).to_be_visible()
    expect(page.get_by_text("is not a time range")).to_be_visible()
