"""Two trainings never share a device, and a third waits until one is free."""

from contextlib import ExitStack

import pytest

from annotation.core.lifecycle import Cancelled
from annotation.loop.processes import devices
from annotation.loop.rounds import trainer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def waited(monkeypatch):
    monkeypatch.setattr(devices, "LOOK_SECONDS", 0)
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


def test_without_gpus_the_trainer_sees_what_it_sees(settings, tmp_path):
    settings.TRAINING_DEVICES = []
    with devices.training_slot(lambda: None) as slot:
        assert slot == ""
    assert "CUDA_VISIBLE_DEVICES=" not in " ".join(trainer._command(tmp_path, tmp_path, tmp_path, ""))
    told = trainer._command(tmp_path, tmp_path, tmp_path, "1")
    assert told[:2] == ["/usr/bin/env", "CUDA_VISIBLE_DEVICES=1"]
