"""Rounds by real Celery workers: through all queues, cancelled in the middle, and with the trainer's worker killed."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.core.lifecycle import MAX_ATTEMPTS, cancel_job, sweep_jobs
from annotation.loop import registry
from annotation.loop.model_jobs.jobs import request_audit
from annotation.loop.rounds import runs
from annotation.models import ModelJob, TrainingRun
from tests.factories import UserFactory
from tests.rounds_world import QUICK, labelled_project
from tests.waiting import until

Run = TrainingRun.State


@pytest.fixture
def project(celery_workers):
    return labelled_project(UserFactory(is_staff=True), labelled=80, unlabelled=20)


@pytest.fixture
def manager(project):
    return project.memberships.get(user__isnull=False).user


def ended(run):
    run.refresh_from_db()
    return run.state not in TrainingRun.LIVE


def trainers():
    """Ids of the training processes of this test process."""
    mine = f"VAR_DIR={os.environ['VAR_DIR']}".encode()
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            here = mine in (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if here and b"prm" in words and b"train" in words:
            found.append(int(process.name))
    return found


def in_state(job, state):
    job.refresh_from_db()
    return job.state == state


def in_mid_training(run):
    return run.points.filter(stage="train").exists() and trainers()


def test_a_killed_gpu_worker_takes_its_trainer_along_and_the_run_goes_on(project, manager, celery_workers):
    run = runs.request_run(by=manager, project=project)
    first = until(lambda: in_mid_training(run))
    celery_workers.kill("gpu")
    until(lambda: not set(first) & set(trainers()), seconds=15)
    run.refresh_from_db()
    assert run.state == Run.RUNNING
    # Beat would sweep once the heartbeat is old enough.
    TrainingRun.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    celery_workers.start()
    assert sweep_jobs() == 1
    until(lambda: ended(run))
    assert run.state == Run.DONE, run.error
    assert run.stages.get(name="train").attempts == 2
    assert project.model_versions.count() == 1


def test_a_run_whose_workers_keep_dying_fails_with_its_reason_and_the_next_can_be_cancelled(
    project, manager, celery_workers
):
    run = runs.request_run(by=manager, project=project)
    until(lambda: in_mid_training(run))
    celery_workers.kill("gpu")
    long_ago = timezone.now() - timedelta(minutes=1)
    TrainingRun.objects.filter(pk=run.pk).update(attempts=MAX_ATTEMPTS, heartbeat_at=long_ago)
    celery_workers.start()
    assert sweep_jobs() == 1
    until(lambda: ended(run), seconds=15)
    assert run.state == Run.FAILED
    assert "the worker died 3 times" in run.error
    second = runs.request_run(by=manager, project=project)
    assert second.number == 2
    until(lambda: in_mid_training(second))
    cancel_job(by=manager, job=second)
    until(lambda: ended(second), seconds=15)
    assert second.state == Run.CANCELLED
    assert trainers() == []
    assert registry.champion_of(project) is None


def test_a_round_goes_through_all_queues_and_an_audit_gives_its_worker_to_the_next_at_once(project, manager):
    project.policy |= {"training": QUICK}
    project.save()
    first = runs.request_run(by=manager, project=project)
    until(lambda: ended(first))
    assert first.state == Run.DONE, first.error
    assert first.model_version is not None
    assert project.generations.get(state="open").run == first
    assert trainers() == []
    job = request_audit(by=manager, version=first.model_version)
    until(lambda: in_state(job, job.State.RUNNING))
    run = runs.request_run(by=manager, project=project)
    until(lambda: run.stages.get(name="train").started_at)
    snapshot, train = (run.stages.get(name=name) for name in ("snapshot", "train"))
    assert (train.started_at - snapshot.finished_at).total_seconds() < 15
    assert in_state(job, job.State.QUEUED), "it stopped for the round"
    assert "round has priority" in job.message
    until(lambda: ended(run))
    # Beat would sweep once the heartbeat is old enough.
    ModelJob.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=2))
    assert sweep_jobs() == 1
    until(lambda: in_state(job, job.State.DONE))
