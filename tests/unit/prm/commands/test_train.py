"""The end of a training in several processes."""

import argparse
import os

import pytest

from prm.commands import train
from prm.config import TrainConfig


def test_a_process_of_several_ends_without_a_teardown(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(train, "_train", lambda *given: None)
    monkeypatch.setattr(os, "_exit", ended.append)
    train._train_in_team(argparse.Namespace(), TrainConfig())
    assert ended == [0]
