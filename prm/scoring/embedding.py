"""A solution, or each of its steps, as 32 numbers: for diversity, and to recognise text unlike the training data."""

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
AT_ONCE = 64  # solutions whose features stay in a processor's cache: a tenth of the time of thousands at once
SURPRISAL = STATISTICS.index("surprisal_mean") - len(STATISTICS)  # its column, where statistics are read
SEED = b"stepmark: random projection of step features"


class Embedder:
    """From the features of a solution's scored steps to one direction.

    Their mean is standardised by what the model saw in training and projected by random signs (Achlioptas 2003),
    which keeps distances; the length is then set to 1. The signs are the same for every model of a width, for ever,
    but features are not, so only embeddings by one model can be compared.
    """

    def __init__(self, readout: Readout) -> None:
        heads = next(part for part in readout.children() if isinstance(part, Heads))
        self._centre, self._scale = heads.centre.cpu(), heads.scale.cpu()
        self._signs = random_signs(len(self._centre))

    def embed(self, rows: Tensor) -> list[float] | None:
        """`rows` [steps, width] to EMBEDDING_WIDTH floats of norm 1; None where there is no step, or no direction."""
        (one,) = self.embed_all(rows, torch.tensor([len(rows)]))
        return None if np.isnan(one[0]) else one.tolist()

    def embed_all(self, rows: Tensor, steps: Tensor) -> NDArray[np.float64]:
        """Solutions one after the other: `rows` [all steps, width] and the `steps` [n] of each.

        [n, EMBEDDING_WIDTH] of norm 1, NaN where a solution has no step, or no direction.
        """
        parts = steps.split(AT_ONCE)
        of_parts = rows.split([int(part.sum()) for part in parts])
        return torch.cat([self._embed(*both) for both in zip(of_parts, parts, strict=True)]).numpy()

    def marks(self, rows: Tensor, features: Sequence[Feature]) -> NDArray[np.float64]:
        """What the domain's bars look at in each step (`DomainBar`), [steps, EMBEDDING_WIDTH + 1].

        The step's projected features, not scaled to a direction: text of another kind differs in length most. Last,
        how badly the backbone predicted its tokens; NaN where `features`, those of `rows`, have no statistics.
        """
        projected = self._standard(rows) @ self._signs
        surprisal = (
            rows[:, SURPRISAL].cpu() if "statistics" in features else projected.new_full((len(rows),), torch.nan)
        )
        return torch.cat([projected, surprisal[:, None]], dim=1).double().numpy()

    def _standard(self, rows: Tensor) -> Tensor:
        return ((rows.cpu().float() - self._centre) / self._scale).clamp(-8, 8)

    def _embed(self, rows: Tensor, steps: Tensor) -> Tensor:
        standard = self._standard(rows)
        sums = torch.zeros(len(steps), standard.shape[1])
        sums.index_add_(0, torch.arange(len(steps)).repeat_interleave(steps), standard)
        projected = (sums / steps.clamp(min=1)[:, None] @ self._signs).double()
        norm = projected.norm(dim=1, keepdim=True)
        return projected / norm.where(norm > 1e-9, torch.nan)


@lru_cache(maxsize=8)
def random_signs(width: int) -> Tensor:
    """+1 and -1, [width, EMBEDDING_WIDTH], from a hash, so that no library's random numbers can change them."""
    stream = hashlib.shake_256(SEED).digest(width * EMBEDDING_WIDTH // 8)
    bits = np.unpackbits(np.frombuffer(stream, dtype=np.uint8)).reshape(width, EMBEDDING_WIDTH)
    return torch.from_numpy(2.0 * bits.astype(np.float32) - 1.0)


@dataclass(frozen=True)
class Familiarity:
    """How like what a model learned from a solution is, whether it is read at once or while it grows.

    It is the model's domain bar with what it needs to look at step features; `features` are those the model reads.
    """

    embedder: Embedder
    features: Sequence[Feature]
    bar: DomainBar

    def marks(self, rows: Tensor) -> NDArray[np.float64]:
        """What the bar looks at in each step of `rows` [steps, width]."""
        return self.embedder.marks(rows, self.features)

    def distance(self, marks: NDArray[np.float64]) -> float | None:
        """`DomainBar.distance` of the steps so far: above 1 is out of domain."""
        return self.bar.distance(marks)
