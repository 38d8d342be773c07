"""From a record to what training may learn of it: the agreed path and what stands beside it, with posteriors. Pure."""

from dataclasses import dataclass
from itertools import takewhile

import msgspec

from annotation.labels.quality.consensus import consensus_of
from prm.formats.path import Taken, consensus_path, taken_path
from prm.formats.record import Consensus, Record
from prm.vocabulary import MACHINES

Posteriors = dict[tuple[int, int], Consensus]  # by position and alternative


@dataclass(frozen=True)
class LabelledStep:
    """One step. `consensus` is None where nobody rated it, or all were unsure."""

    text: str
    kind: str
    consensus: Consensus | None


@dataclass(frozen=True)
class LabelledSolution:
    """The agreed path, whole where it keeps to the solution as sampled, and what was rated beside it.

    `alternatives` stand with their place on the path. `as_sampled` tells whether the path is the sampled
    solution, so that what is known of its final answer holds for the path.
    """

    path: list[LabelledStep]
    alternatives: list[tuple[int, LabelledStep]]
    as_sampled: bool


def labelled_solution(record: Record) -> LabelledSolution:
    """What the annotations of the record agree on.

    A step that an annotator wrote has no consensus: nobody rated it. Where the annotators stopped, the
    solution goes on unlabelled: cut there, its length would tell where its error is.
    """
    agreed = consensus_path(record)
    posteriors = {(c.position, c.alternative): c for c in record.consensus}
    path = []
    for taken in agreed:
        if taken.alternative is None:
            path.append(LabelledStep(taken.own_text or "", "reasoning", None))
        else:
            path.append(_labelled(record, posteriors, taken.position, taken.alternative))
    as_sampled = all(taken.alternative == 0 for taken in agreed)
    if as_sampled:
        rest = takewhile(lambda at: at and not at[0].added, record.positions[len(agreed) :])
        path += [LabelledStep(at[0].text, at[0].kind, None) for at in rest]
    return LabelledSolution(path, _alternatives(record, agreed, posteriors), as_sampled)


def _alternatives(record: Record, agreed: list[Taken], posteriors: Posteriors) -> list[tuple[int, LabelledStep]]:
    """Rated completions that the agreed path does not take, in order.

    A rating holds for the steps that its reader saw before it, so it counts only where the reader had
    walked the agreed path up to there.
    """
    on_path = {(taken.position, taken.alternative) for taken in agreed}
    found: dict[tuple[int, int], tuple[int, LabelledStep]] = {}
    for annotation in record.annotations:
        walked = taken_path(annotation.finish_reason, annotation.path)
        for place in annotation.path:
            before = _until(agreed, place.position)
            if _until(walked, place.position) != before:
                continue
            for key in {(place.position, rating.alternative) for rating in place.ratings} - on_path:
                if key in posteriors:
                    found[key] = (len(before), _labelled(record, posteriors, *key))
    return [found[key] for key in sorted(found)]


def _until(path: list[Taken], position: int) -> list[tuple[int, int | None, str | None]]:
    return [(taken.position, taken.alternative, taken.own_text) for taken in path if taken.position < position]


def _labelled(record: Record, posteriors: Posteriors, position: int, alternative: int) -> LabelledStep:
    completion = record.positions[position][alternative]
    return LabelledStep(completion.text, completion.kind, posteriors.get((position, alternative)))


def without_machines(record: Record) -> Record:
    """The record with the word of annotators alone: a project may train on machines' labels, never measure on them.

    Where machines are left out, the words that remain count alike.
    """
    kept = [annotation for annotation in record.annotations if annotation.source_kind not in MACHINES]
    if len(kept) == len(record.annotations):
        return record
    return msgspec.structs.replace(record, annotations=kept, consensus=consensus_of(kept))
