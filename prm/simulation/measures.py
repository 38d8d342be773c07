"""ProcessBench F1 of many models on one test set, under many weightings of its problems at once. numpy only."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.evaluation.metrics import divide, harmonic_mean
from prm.labels import first_error, problem_of
from prm.traces import Trace

Array = NDArray[np.float64]
Hits = NDArray[np.bool_]


class Yardstick(msgspec.Struct, frozen=True):
    """A test set: of each solution the number of its problem and of its domain, and whether it has an error."""

    problem: list[int]
    domain: list[int]
    erroneous: list[bool]

    @classmethod
    def of(cls, traces: Sequence[Trace]) -> "Yardstick":
        """The test set that these solutions make."""
        problem = np.unique([problem_of(trace) for trace in traces], return_inverse=True)[1]
        domain = np.unique([trace.domain for trace in traces], return_inverse=True)[1]
        return cls(problem.tolist(), domain.tolist(), [first_error(trace) != -1 for trace in traces])

    def f1(self, hits: Hits, weights: Array) -> Array:
        """`hits` [..., solutions] and `weights` [draws, solutions] to F1, averaged over domains: [..., draws].

        A domain that a draw leaves without erroneous or without right solutions does not count in it.
        """
        domain, erroneous = np.array(self.domain), np.array(self.erroneous)
        scores = []
        for name in np.unique(domain):
            accuracies = []
            for kind in (True, False):
                mask = (domain == name) & (erroneous == kind)
                part = weights[:, mask]
                accuracies.append(divide(hits[..., mask].astype(float) @ part.T, part.sum(axis=1)))
            scores.append(harmonic_mean(*accuracies))
        stacked = np.stack(scores)
        return np.asarray(divide(np.nansum(stacked, axis=0), (~np.isnan(stacked)).sum(axis=0)))


def pack_hits(hits: Hits) -> str:
    """Hits [solutions] as hexadecimal bits."""
    return np.packbits(hits).tobytes().hex()


def unpack_hits(text: str, n: int) -> Hits:
    """The hits of n solutions from `pack_hits`."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8))[:n].astype(bool)
