"""The generated world of the demo."""

from collections.abc import Iterator

import msgspec
import numpy as np

from prm.formats.labels import rated_label
from prm.formats.record import Record
from prm.formats.record_traces import record_of
from prm.labels import without_labels
from prm.sandbox.annotators import PROFILES, Reading, simulate_labels
from prm.sandbox.world import WorldConfig, generate
from prm.traces import Trace
from prm.vocabulary import Split

# The explanation of each kind of error, shown in practice.
WHY = {
    "slip": "A slip in working it out: the operation is right, its result is not.",
    "misconception": "A misconception: the operation itself is not the one that is needed.",
    "unjustified_jump": "A jump: it does not follow from what stands before.",
    "cancelling": "Wrong, although a later error takes it back: the answer is right by luck.",
}


class Sandbox:
    """A sample of the generated world. Simulated annotators know its true labels."""

    def __init__(self, *, solutions: int, seed: int, gold: int = 0) -> None:
        """Draw `solutions` from all splits of the world, and separate `gold` ones.

        The project splits the solutions again, by source group.
        """
        shares: dict[Split, float] = {"pool": 0.6, "calibration": 0.15, "holdout": 0.25}
        self._traces: dict[str, Trace] = {
            trace.id: trace
            for split, share in shares.items()
            for trace in generate(WorldConfig(), split=split, n=round(solutions * share), seed=seed)
        }

        self._gold = {trace.id: trace for trace in generate(WorldConfig(), split="pool", n=gold, seed=seed + 1)}

    def records(self) -> Iterator[Record]:
        """The solutions without labels."""
        return map(_unlabelled, self._traces.values())

    def gold(self) -> Iterator[Record]:
        """The gold solutions with their true labels."""
        for trace in self._gold.values():
            record = _unlabelled(trace)
            ratings = [None if label is None else label.rating for label in trace.labels or []]
            label = rated_label(ratings, kind="consensus", name="the sandbox")
            label.comment = WHY.get(trace.meta["error_kind"] or "", "")
            record.annotations = [label]
            yield record

    def read(self, external_id: str, *, profile: str, rng: np.random.Generator) -> Reading:
        """How a simulated annotator with this skill profile labels the solution."""
        return simulate_labels((self._traces | self._gold)[external_id], PROFILES[profile], rng)


def _unlabelled(trace: Trace) -> Record:
    return msgspec.structs.replace(record_of(without_labels(trace, trace.steps)), split="")
