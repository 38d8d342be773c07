"""From a record to what training may learn of it: the agreed path with a posterior for each step. Pure."""

from dataclasses import dataclass

import msgspec

from annotation.formats.path import consensus_path
from annotation.formats.record import Consensus, Record
from annotation.quality.consensus import consensus_of

MACHINES = frozenset({"model_judge", "monte_carlo", "heuristic"})


@dataclass(frozen=True)
class LabelledStep:
    """One step of the agreed path. `consensus` is None where nobody rated it, or all were unsure."""

    text: str
    kind: str
    consensus: Consensus | None


def labelled_path(record: Record) -> list[LabelledStep]:
    """The path that the annotations of the record agree on.

    Steps after the first error stand only where someone walked on and rated them. A step that an
    annotator wrote has no consensus: nobody rated it.
    """
    agreed = {(c.position, c.alternative): c for c in record.consensus}
    steps = []
    for taken in consensus_path(record):
        if taken.alternative is None:
            steps.append(LabelledStep(taken.own_text or "", "reasoning", None))
        else:
            completion = record.positions[taken.position][taken.alternative]
            consensus = agreed.get((taken.position, taken.alternative))
            steps.append(LabelledStep(completion.text, completion.kind, consensus))
    return steps


def without_machines(record: Record) -> Record:
    """The record with the word of annotators alone: a project may train on machines' labels, never measure on them."""
    kept = [annotation for annotation in record.annotations if annotation.source_kind not in MACHINES]
    return msgspec.structs.replace(record, annotations=kept, consensus=consensus_of(kept))
