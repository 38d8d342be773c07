"""Turns a record into training labels: the agreed path and its alternatives, with posteriors. Pure."""

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
    """The training labels that the record's annotations agree on.

    A step that an annotator wrote has no consensus: nobody rated it. Where the annotators stopped, the
    solution goes on unlabelled: cut there, its length would tell where its error is.
    """
    agreed = consensus_path(record)
    posteriors = {(c.position, c.alternative): c for c in record.consensus}
    path = []
    for place in agreed:
        if place.alternative is None:
            path.append(LabelledStep(place.own_text or "", "reasoning", None))
        else:
            path.append(_labelled(record, posteriors, place.position, place.alternative))
    as_sampled = all(place.alternative == 0 for place in agreed)
    if as_sampled:
        rest = takewhile(lambda at: at and not at[0].added, record.positions[len(agreed) :])
        path += [LabelledStep(at[0].text, at[0].kind, None) for at in rest]
    return LabelledSolution(path, _alternatives(record, agreed, posteriors), as_sampled)


def _alternatives(record: Record, agreed: list[Taken], posteriors: Posteriors) -> list[tuple[int, LabelledStep]]:
    """Rated completions that the agreed path does not take, in order.

    A rating holds for the steps that its reader saw before it, so it counts only where the reader had
    walked the agreed path up to there.
    """
    on_path = {(step.position, step.alternative) for step in agreed}
    alternatives: dict[tuple[int, int], tuple[int, LabelledStep]] = {}
    for annotation in record.annotations:
        walked = taken_path(annotation.finish_reason, annotation.path)
        for place in annotation.path:
            before = _until(agreed, place.position)
            if _until(walked, place.position) != before:
                continue
            for key in {(place.position, rating.alternative) for rating in place.ratings} - on_path:
                if key in posteriors:
                    alternatives[key] = (len(before), _labelled(record, posteriors, *key))
    return [alternatives[key] for key in sorted(alternatives)]


def _until(path: list[Taken], position: int) -> list[tuple[int, int | None, str | None]]:
    return [(place.position, place.alternative, place.own_text) for place in path if place.position < position]


def _labelled(record: Record, posteriors: Posteriors, position: int, alternative: int) -> LabelledStep:
    completion = record.positions[position][alternative]
    return LabelledStep(completion.text, completion.kind, posteriors.get((position, alternative)))


def without_machines(record: Record) -> Record:
    """The record with the word of annotators alone: a project may train on machines' labels, never measure on them.

    Where machines are left out, the words that remain count alike.
    """
    human = [annotation for annotation in record.annotations if annotation.source_kind not in MACHINES]
    if len(human) == len(record.annotations):
        return record
    return msgspec.structs.replace(record, annotations=human, consensus=consensus_of(human))
