"""How many trainings run at once follows from the GPUs of the machine."""

import subprocess

import pytest

from launch import devices, supervision
from launch.errors import LaunchError


@pytest.mark.parametrize(
    ("environment", "slots"),
    [
        ({"CUDA_VISIBLE_DEVICES": ""}, []),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, []),
        ({"CUDA_VISIBLE_DEVICES": "2,5"}, ["2", "5"]),
        ({"CUDA_VISIBLE_DEVICES": "0,1,2,3,4", "GPUS_PER_TRAINING": "2"}, ["0,1", "2,3"]),
        ({"TRAINING_DEVICES": "0,1;2", "CUDA_VISIBLE_DEVICES": "7"}, ["0,1", "2"]),
    ],
    ids=str,
)
def test_visible_devices_are_dealt_to_trainings(environment, slots):
    assert devices.training_slots(environment) == slots


def test_the_driver_is_asked_where_nothing_says_what_is_visible(monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *given, **more: subprocess.CompletedProcess(given, 0, "0\n1\n"))
    assert devices.training_slots({}) == ["0", "1"]

    def absent(*given, **more):
        raise FileNotFoundError("nvidia-smi")

    monkeypatch.setattr(subprocess, "run", absent)
    assert devices.training_slots({}) == []


@pytest.mark.parametrize("each", ["two", "0", "-1"])
def test_a_number_of_gpus_that_is_none_is_refused_in_a_sentence(each):
    with pytest.raises(LaunchError, match="GPUS_PER_TRAINING is"):
        devices.training_slots({"CUDA_VISIBLE_DEVICES": "0", "GPUS_PER_TRAINING": each})


@pytest.mark.parametrize(("slots", "at_once"), [([], "1"), (["0"], "1"), (["0", "1"], "2")])
def test_the_training_worker_takes_one_training_a_slot(slots, at_once):
    command = supervision.worker_commands(slots)["gpu"]
    assert command[command.index("--concurrency") + 1] == at_once


def test_a_queue_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(supervision, "training_slots", lambda environment: [])
    with pytest.raises(LaunchError, match="the queues are default, gpu, score"):
        supervision.become_worker("tpu")
