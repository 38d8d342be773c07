"""The sandbox world of the demo."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from annotation.formats.record import Completion, Record

if TYPE_CHECKING:
    from prm.sandbox.annotators import Reading as Reading  # for the demo's types
    from prm.traces import Split, Trace


class Sandbox:
    """A small sample of the generated world, of which the simulated annotators know the truth."""

    def __init__(self, *, solutions: int, seed: int) -> None:
        """Draws `solutions` from all parts of the world; the project parts them anew by their source group."""
        from prm.sandbox.world import WorldConfig, generate

        shares: dict[Split, float] = {"pool": 0.6, "calibration": 0.15, "holdout": 0.25}
        self._traces: dict[str, Trace] = {
            trace.id: trace
            for split, share in shares.items()
            for trace in generate(WorldConfig(), split=split, n=round(solutions * share), seed=seed)
        }

    def records(self) -> Iterator[Record]:
        """The solutions without their labels."""
        for trace in self._traces.values():
            yield Record(
                problem=trace.problem,
                positions=[[Completion(step.text, step.kind)] for step in trace.steps],  # type: ignore[arg-type]
                source_group=trace.source_group,
                domain=trace.domain,
                reference_answer=trace.reference_answer,
                external_id=trace.id,
                generator=trace.generator,
                final_answer_correct=trace.final_answer_correct,
            )

    def read(self, external_id: str, *, profile: str, rng: np.random.Generator) -> "Reading":
        """How a simulated annotator of that skill profile reads the solution."""
        from prm.sandbox.annotators import PROFILES, simulate_labels

        return simulate_labels(self._traces[external_id], PROFILES[profile], rng)
