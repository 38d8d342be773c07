"""Two trainings never share a device, and a third waits until one is free."""

from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.lifecycle import Cancelled, Postponed
from annotation.loop.processes import devices
from annotation.loop.processes.watched import prm_command
from annotation.loop.rounds import work
from annotation.loop.rounds.work import StageWork
from annotation.models import RunStage, TrainingRun
from tests.factories import ProjectFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def waited(monkeypatch):
    monkeypatch.setattr(devices, "RETRY_SECONDS", 0)
    return []


def test_each_training_has_a_slot_of_its_own(settings, waited):
    settings.TRAINING_DEVICES = ["0", "1"]
    first, second = ExitStack(), ExitStack()
    assert first.enter_context(devices.training_slot(waited.append)) == "0"
    assert second.enter_context(devices.training_slot(waited.append)) == "1"

    def give_up_after_three():
        waited.append(1)
        if len(waited) == 3:
            first.close()

    with devices.training_slot(give_up_after_three) as third:
        assert third == "0"
    assert len(waited) == 3
    second.close()


def test_who_waits_can_be_cancelled(settings, waited):
    settings.TRAINING_DEVICES = ["0"]

    def cancelled():
        raise Cancelled

    with (
        devices.training_slot(waited.append),
        pytest.raises(Cancelled),
        devices.training_slot(cancelled),
    ):
        pytest.fail("the slot was given twice")


def test_without_gpus_the_trainer_sees_what_it_sees(settings):
    settings.TRAINING_DEVICES = []
    with devices.training_slot(lambda: None) as slot:
        assert slot == ""
    assert "CUDA_VISIBLE_DEVICES=" not in " ".join(prm_command("train"))
    told = prm_command("train", devices="1")
    assert told[:2] == ["/usr/bin/env", "CUDA_VISIBLE_DEVICES=1"]


def test_other_jobs_give_way_to_a_round_whose_worker_died():
    run = TrainingRun.objects.create(project=ProjectFactory(), number=1, trigger="manual", seed=0, state="queued")
    RunStage.objects.create(run=run, name="train", order=0, queue="gpu", state="running", attempts=1)
    for seconds, waits in ((0, False), (5, True)):
        TrainingRun.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=seconds))
        assert devices.round_waits() is waits
    TrainingRun.objects.update(state="running")  # a worker has it again
    assert not devices.round_waits()


def test_a_round_that_waits_for_a_slot_gets_that_of_a_simulation(settings, waited, monkeypatch):
    """A worker is at the round's stage, so nothing waits in the queue; the simulation gives way all the same."""
    settings.TRAINING_DEVICES = ["0"]
    run = TrainingRun.objects.create(
        project=ProjectFactory(), number=1, trigger="manual", seed=0, state="running", heartbeat_at=timezone.now()
    )
    stage = RunStage.objects.create(run=run, name="train", order=0, queue="gpu", state="running", attempts=1)
    devices.give_way()
    simulation = ExitStack()
    simulation.enter_context(devices.training_slot(devices.give_way))

    def tick_of_the_simulation(job):
        with pytest.raises(Postponed):
            devices.give_way()
        simulation.close()

    monkeypatch.setattr(work, "beat", tick_of_the_simulation)
    with StageWork(run, stage).training_slot() as slot:
        assert slot == "0"
        stage.refresh_from_db()
        assert stage.state == RunStage.State.RUNNING
    monkeypatch.undo()
    devices.give_way()
