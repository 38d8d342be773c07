"""Choices of training that cannot be meant are refused by name."""

import msgspec
import pytest

from prm.config import TrainConfig


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"backbone_learning_rate": -1.0}, "backbone_learning_rate must be above 0"),
        ({"weight_decay": -0.1}, "weight_decay must be 0 or more"),
        ({"checkpoint_seconds": -1.0}, "checkpoint_seconds must be 0 or more"),
        ({"context": 0}, "context must be at least 1"),
        ({"part_tokens": 0}, "part_tokens must be at least 1"),
        ({"lane": "heads", "shard": True}, r"`shard` requires `lane` \"full\""),
        ({"lane": "lora", "shard": True}, r"`shard` requires `lane` \"full\""),
        (
            {"lane": "full", "shard": True, "optimizer": "adafactor"},
            r"`shard` requires `optimizer` \"adamw\" or \"sgd\"",
        ),
        ({"lane": "full", "quantization": "4bit"}, r"`quantization` requires `lane` \"lora\""),
        ({"optimizer": "lion"}, r"Invalid enum value 'lion' - at `\$.optimizer`"),
        ({"seed": -1}, r"Expected `int` >= 0 - at `\$.seed`"),
        ({"seed": 2**63}, r"Expected `int` <= 4294967295 - at `\$.seed`"),
        ({"warmup": 1.0}, r"warmup must be in \[0, 1\)"),
        ({"lora_rank_pattern": {"q_proj": 0}}, "lora_rank_pattern.q_proj must be at least 1"),
        ({"epoch": 3}, "unknown field `epoch`"),
    ],
)
def test_a_choice_that_cannot_be_meant_is_refused_by_name(choice: dict[str, object], reason: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=reason):
        msgspec.convert(choice, TrainConfig)
