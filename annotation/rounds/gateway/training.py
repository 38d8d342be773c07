"""What the trainer is told, and what it leaves."""

from pathlib import Path
from typing import Any

import msgspec
from django.conf import settings

from annotation.errors import DomainError
from annotation.models import ModelVersion, ProjectPolicy


def training_config(policy: ProjectPolicy, *, seed: int) -> dict[str, Any]:
    """What the trainer is told beside its data."""
    return {"base": policy.backbone, "neutral": policy.neutral, "seed": seed}


def is_trained(folder: Path, data: Path, config: dict[str, Any]) -> bool:
    """Whether the folder holds the finished model of exactly these data and choices."""
    from prm.config import TrainConfig
    from prm.errors import ModelFileError
    from prm.manifest import file_sha256
    from prm.manifest import read_manifest as read

    try:
        manifest = read(folder)
    except ModelFileError:
        return False
    return manifest.data_sha256 == file_sha256(data) and manifest.config == msgspec.convert(config, TrainConfig)


def read_manifest(folder: Path) -> tuple[dict[str, Any], str]:
    """The manifest and the SHA-256 of the weights. Raises DomainError (`model_unusable`) with the reason."""
    from prm.errors import ModelFileError
    from prm.manifest import WEIGHTS_FILE
    from prm.manifest import read_manifest as read

    try:
        manifest = read(folder)
    except ModelFileError as error:
        raise DomainError("model_unusable", str(error)) from error
    return msgspec.to_builtins(manifest), manifest.checksums[WEIGHTS_FILE]


def model_path(version: ModelVersion) -> Path:
    return settings.MODEL_ROOT / version.path
