"""The end of a training in several processes."""

import argparse

import pytest
from torch import distributed

from prm.commands import train
from prm.config import TrainConfig

pytestmark = pytest.mark.torch


def test_a_process_leaves_the_others_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        train,
        "_train",
        lambda *given: distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1),
    )
    train._train_in_team(argparse.Namespace(), TrainConfig())
    assert not distributed.is_initialized()
