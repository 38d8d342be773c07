"""Checks that a project's backbone is one that the operator listed, so that managers cannot read server files."""

import os
from pathlib import Path

from django.conf import settings

from annotation.core.errors import DomainError
from prm.messages import Message

EMBEDDED = "tiny"


def check_backbone(backbone: str) -> None:
    """Accept `tiny`, a name in BACKBONES or a folder below a path there. Raises DomainError (`backbone_not_listed`)."""
    if backbone == EMBEDDED or backbone in settings.BACKBONES or _is_below_a_root(backbone):
        return
    reason = Message("unknown_backbone", backbone=backbone, known=", ".join([EMBEDDED, *settings.BACKBONES]))
    raise DomainError(reason, {"field": "policy", "place": "backbone", "reason": reason}, code="backbone_not_listed")


def _is_below_a_root(backbone: str) -> bool:
    if not os.path.isabs(backbone) or "\0" in backbone:
        return False
    folder = Path(backbone).resolve()
    return any(folder.is_relative_to(Path(root).resolve()) for root in settings.BACKBONES if os.path.isabs(root))
