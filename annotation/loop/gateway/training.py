"""The trainer's configuration and output."""

from pathlib import Path
from typing import Any

import msgspec
from django.conf import settings

from annotation.core.errors import DomainError
from annotation.core.membership.backbones import check_backbone
from annotation.models import ModelVersion, ProjectPolicy
from prm.config import TrainConfig
from prm.errors import ModelFileError
from prm.faults import fault_of
from prm.manifest import WEIGHTS_FILE, data_sha256, finished_model
from prm.manifest import read_manifest as read
from prm.messages import Message

ELSEWHERE = {"base": "backbone", "neutral": "neutral"}  # choices that have a place of their own in the policy


def training_config(policy: ProjectPolicy, *, seed: int) -> dict[str, Any]:
    """The trainer's configuration. Raises DomainError for a backbone that is not listed (any more)."""
    check_backbone(policy.backbone)
    return {"seed": seed} | policy.training | {name: getattr(policy, place) for name, place in ELSEWHERE.items()}


def shadow_config(policy: ProjectPolicy, *, seed: int) -> dict[str, Any]:
    """The same choices for a model that is only measured: heads on cached features, whatever the policy's lane."""
    return training_config(policy, seed=seed) | {"lane": "heads", "shard": False}


def check_training(choices: dict[str, Any]) -> None:
    """Raises DomainError (`invalid_policy`) naming the choice that the library does not take."""
    for name, place in ELSEWHERE.items():
        if name in choices:
            raise _refused(Message("setting_belongs_to_policy", name=name, place=place))
    try:
        msgspec.convert(choices, TrainConfig)
    except msgspec.ValidationError as error:
        place, reason = fault_of(error)
        raise _refused(Message("place_reason", place=place, reason=reason) if place else reason) from None


def _refused(why: str) -> DomainError:
    return DomainError(Message("invalid_policy", why=why), {"field": "training"})


def is_unchanged(version: ModelVersion, data: Path, config: dict[str, Any]) -> bool:
    """Whether the version learned from exactly these labels, by these choices, with the code that is here."""
    choices = msgspec.convert(config, TrainConfig)
    return finished_model(model_path(version), choices, data_sha256(data)) is not None


def read_manifest(folder: Path) -> tuple[dict[str, Any], str]:
    """The manifest and the SHA-256 of the weights. Raises DomainError (`model_unusable`) with the reason."""
    try:
        manifest = read(folder)
    except ModelFileError as error:
        raise DomainError(error.args[0], code="model_unusable") from error
    return msgspec.to_builtins(manifest), manifest.checksums[WEIGHTS_FILE]


def model_path(version: ModelVersion) -> Path:
    return settings.MODEL_ROOT / version.path
