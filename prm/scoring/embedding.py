"""Embeds a solution or its steps as 32 numbers, for diversity and to recognise text unlike the training data."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from prm.config import Feature
from prm.features import STATISTICS
from prm.heads import Heads, Readout
from prm.trust import DomainBar

EMBEDDING_WIDTH = 32
AT_ONCE = 64  # solutions whose features fit the processor's cache: a tenth of the time of thousands at once
SURPRISAL = STATISTICS.index("surprisal_mean") - len(STATISTICS)  # its column, if statistics are among the features
SEED = b"stepmark: random projection of step features"


class Embedder:
    """Maps the features of a solution's scored steps to one direction.

    Their mean is standardised as in training and projected by random signs (Achlioptas 2003), which preserves
    distances; the length is then set to 1. The signs are fixed for every width, but features differ by model, so only
    embeddings by the same model are comparable.
    """

    def __init__(self, readout: Readout) -> None:
        heads = next(part for part in readout.children() if isinstance(part, Heads))
        self._centre, self._scale = heads.centre.cpu(), heads.scale.cpu()
        self._signs = random_signs(len(self._centre))

    def embed(self, rows: Tensor) -> list[float] | None:
        """`rows` [steps, width] to EMBEDDING_WIDTH floats of norm 1; None without a step or a direction."""
        (one,) = self.embed_all(rows, torch.tensor([len(rows)]))
        return None if np.isnan(one[0]) else one.tolist()

    def embed_all(self, rows: Tensor, steps: Tensor) -> NDArray[np.float64]:
        """Embeddings [n, EMBEDDING_WIDTH] of norm 1, NaN for a solution without a step or a direction.

        `rows` [all steps, width] are those of the solutions in order, with `steps` [n] each.
        """
        parts = steps.split(AT_ONCE)
        of_parts = rows.split([int(part.sum()) for part in parts])
        return torch.cat([self._embed(*both) for both in zip(of_parts, parts, strict=True)]).numpy()

    def marks(self, rows: Tensor, features: Sequence[Feature]) -> NDArray[np.float64]:
        """The inputs of the domain limits (`DomainBar`) for each step, [steps, EMBEDDING_WIDTH + 1].

        These are the step's projected features, not normalised, since foreign text differs most in their length. The
        last column is the surprisal of its tokens, NaN if `features`, those of `rows`, have no statistics.
        """
        projected = self._standard(rows) @ self._signs
        surprisal = (
            rows[:, SURPRISAL].cpu() if "statistics" in features else projected.new_full((len(rows),), torch.nan)
        )
        return torch.cat([projected, surprisal[:, None]], dim=1).double().numpy()

    def _standard(self, rows: Tensor) -> Tensor:
        return ((rows[:, : len(self._centre)].cpu().float() - self._centre) / self._scale).clamp(-8, 8)

    def _embed(self, rows: Tensor, steps: Tensor) -> Tensor:
        standard = self._standard(rows)
        sums = torch.zeros(len(steps), standard.shape[1])
        sums.index_add_(0, torch.arange(len(steps)).repeat_interleave(steps), standard)
        projected = (sums / steps.clamp(min=1)[:, None] @ self._signs).double()
        norm = projected.norm(dim=1, keepdim=True)
        return projected / norm.where(norm > 1e-9, torch.nan)


@lru_cache(maxsize=8)
def random_signs(width: int) -> Tensor:
    """+1 and -1, [width, EMBEDDING_WIDTH], from a hash, which does not depend on a library's random numbers."""
    stream = hashlib.shake_256(SEED).digest(width * EMBEDDING_WIDTH // 8)
    bits = np.unpackbits(np.frombuffer(stream, dtype=np.uint8)).reshape(width, EMBEDDING_WIDTH)
    return torch.from_numpy(2.0 * bits.astype(np.float32) - 1.0)


@dataclass(frozen=True)
class Familiarity:
    """Measures a solution's distance from the training data, also while it grows.

    It combines the model's domain limits with the embedder for its step features; `features` are the model's.
    """

    embedder: Embedder
    features: Sequence[Feature]
    bar: DomainBar

    def marks(self, rows: Tensor) -> NDArray[np.float64]:
        """The limits' inputs for each step of `rows` [steps, width]."""
        return self.embedder.marks(rows, self.features)

    def distance(self, marks: NDArray[np.float64]) -> float | None:
        """`DomainBar.distance` of the steps so far: above 1 is out of domain."""
        return self.bar.distance(marks)
