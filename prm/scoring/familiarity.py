"""How like what a model learned from a solution is, whether it is read at once or while it grows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from prm.config import Feature
from prm.scoring.embedding import Embedder
from prm.trust import DomainBar


@dataclass(frozen=True)
class Familiarity:
    """A model's domain bar with what it needs to look at step features; `features` are those the model reads."""

    embedder: Embedder
    features: Sequence[Feature]
    bar: DomainBar

    def marks(self, rows: Tensor) -> NDArray[np.float64]:
        """What the bar looks at in each step of `rows` [steps, width]."""
        return self.embedder.marks(rows, self.features)

    def distance(self, marks: NDArray[np.float64]) -> float | None:
        """`DomainBar.distance` of the steps so far: above 1 is out of domain."""
        return self.bar.distance(marks)
