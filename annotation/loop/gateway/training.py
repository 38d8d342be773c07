"""The trainer's configuration and output."""

from pathlib import Path
from typing import Any

import msgspec

from annotation.core import storage
from annotation.core.errors import DomainError
from annotation.core.membership.backbones import check_backbone
from annotation.models import ModelVersion, ProjectPolicy
from prm.config import TrainConfig
from prm.errors import ModelFileError
from prm.faults import fault_of
from prm.manifest import WEIGHTS_FILE, data_sha256, finished_model
from prm.manifest import read_manifest as read
from prm.messages import Message

OWN_FIELDS = {"base": "backbone", "neutral": "neutral"}  # choices that are fields of the policy itself


def training_config(policy: ProjectPolicy, *, seed: int) -> dict[str, Any]:
    """The trainer's configuration. Raises DomainError (`backbone_not_listed`)."""
    check_backbone(policy.backbone)
    return {"seed": seed} | policy.training | {name: getattr(policy, field) for name, field in OWN_FIELDS.items()}


def learns_from_grades(policy: ProjectPolicy) -> bool:
    """Whether training uses the grades of solutions that nobody has read."""
    weight = msgspec.convert(policy.training, TrainConfig).graded_weight
    return policy.graded_solutions > 0 and weight > 0


def learns_from_estimates(policy: ProjectPolicy) -> bool:
    """Whether training uses Monte Carlo estimates of solutions that nobody has read."""
    weight = msgspec.convert(policy.training, TrainConfig).estimate_weight
    return policy.graded_solutions > 0 and weight > 0


def shadow_config(policy: ProjectPolicy, *, seed: int) -> dict[str, Any]:
    """The configuration of a model that is only measured: heads on cached features in place of the policy's lane."""
    return training_config(policy, seed=seed) | {"lane": "heads", "shard": False, "quantization": "none"}


def check_training(choices: dict[str, Any]) -> None:
    """Raises DomainError (`invalid_policy`) naming the choice that the library rejects."""
    for name, field in OWN_FIELDS.items():
        if name in choices:
            raise _invalid(Message("setting_belongs_to_policy", name=name, place=field))
    try:
        msgspec.convert(choices, TrainConfig)
    except msgspec.ValidationError as error:
        place, reason = fault_of(error, TrainConfig)
        raise _invalid(Message("place_reason", place=place, reason=reason) if place else reason) from None


def _invalid(why: str) -> DomainError:
    return DomainError(Message("invalid_policy", why=why), {"field": "training"})


def is_unchanged(version: ModelVersion, data: Path, config: dict[str, Any]) -> bool:
    """Whether the version was trained on exactly these labels, with these choices and this code."""
    choices = msgspec.convert(config, TrainConfig)
    return finished_model(model_path(version), choices, data_sha256(data)) is not None


def read_manifest(folder: Path) -> tuple[dict[str, Any], str]:
    """The manifest and the SHA-256 of the weights. Raises DomainError (`model_unusable`) with the reason."""
    try:
        manifest = read(folder)
    except ModelFileError as error:
        raise DomainError(error.args[0], code="model_unusable") from error
    return msgspec.to_builtins(manifest), manifest.checksums[WEIGHTS_FILE]


def model_key(version: ModelVersion) -> str:
    return f"models/{version.path}"


def model_path(version: ModelVersion) -> Path:
    """The folder of the model. Raises as `storage.fetch`."""
    return storage.fetch(model_key(version))
