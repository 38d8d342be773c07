"""Scorers over small random backbones, judged by fixed random projections of every step feature."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from prm.backbones import load_backbone
from prm.config import FEATURES
from prm.features import feature_width
from prm.scores import TraceScore
from prm.scoring import Scorer
from prm.scoring.prefixes import ShareChoice
from prm.scoring.readers import LocalReader
from prm.scoring.verdicts import Judges, Probabilities
from prm.scoring.windows import Long

HEADS = 3
TOLERANCE = 1e-4


def make_scorer(
    folder: Path, *, context: int | None = None, long: Long = "null", share_prefix: ShareChoice = "never"
) -> Scorer:
    """A scorer whose every feature moves its scores."""
    backbone = load_backbone(str(folder), device="cpu", context=context)
    width = feature_width(backbone.width, FEATURES)
    weights = torch.randn(width, HEADS, generator=torch.Generator().manual_seed(0)).double() / width**0.5

    def judge(rows: Tensor) -> Probabilities:
        return torch.sigmoid(rows.double() @ weights).T.numpy()

    return Scorer(LocalReader(backbone, FEATURES, 600, share_prefix), Judges(judge, judge), long=long)


def assert_same(found: TraceScore, expected: TraceScore) -> None:
    """The same steps scored, alike to rounding, and in the same mode."""
    assert [p is None for p in found.mean] == [p is None for p in expected.mean]
    assert (found.id, found.windowed) == (expected.id, expected.windowed)
    scored = [k for k, p in enumerate(expected.mean) if p is not None]
    np.testing.assert_allclose(
        [found.heads[k] for k in scored], [expected.heads[k] for k in scored], atol=TOLERANCE, rtol=0
    )
