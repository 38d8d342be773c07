"""The path of an annotation and its first error: the one rule that everything uses.

A path cannot be read off `chosen` alone: it is None where the person wrote the step, at the final
error, and at give-up. The rule for one position is: what was chosen; else, where the person ended here with
a found error, the first completion rated -1 in the order it was shown (the sampled one in PRM800K phase 2;
a step of the person's own is then how it should have gone on); else the person's own step. A position where
none of these holds ends the path.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

from prm.formats.record import PathPosition, Rating, Record, RecordAnnotation


class Taken(NamedTuple):
    """One step of a path: an alternative with its rating, or a step of the person's own (None, text)."""

    position: int
    alternative: int | None
    own_text: str | None
    rating: Rating | None


def taken_path(finish_reason: str, path: Iterable[PathPosition]) -> list[Taken]:
    """The steps that the annotation's path consists of, in order."""
    taken = []
    places = sorted(path, key=lambda place: place.position)
    end = max((place.position for place in places if _reached(place)), default=-1)
    for place in places:
        alternative = place.chosen
        ended_here = finish_reason == "found_error" and (place.own_text is None or place.position == end)
        if alternative is None and ended_here:
            alternative = next((r.alternative for r in place.ratings if r.rating == -1), None)
        if alternative is None and place.own_text is None:
            break
        rating = next((r for r in place.ratings if alternative is not None and r.alternative == alternative), None)
        taken.append(Taken(place.position, alternative, place.own_text if alternative is None else None, rating))
    return taken


def _reached(place: PathPosition) -> bool:
    spoken = any(rating.state != "not_reached" for rating in place.ratings)
    return spoken or place.chosen is not None or place.own_text is not None


def first_error(finish_reason: str, path: Iterable[PathPosition]) -> int | None:
    """Position of the first step on the path rated -1; -1 for none; None where it is not known.

    Only a person who finished the solution says that there is no error in it; giving up leaves it open.
    """
    for step in taken_path(finish_reason, path):
        if step.rating is not None and step.rating.rating == -1:
            return step.position
    return -1 if finish_reason == "solution" else None


def consensus_path(record: Record) -> list[Taken]:
    """The path that the annotations of a record agree on; their ratings are left out.

    At each position the step is taken that most annotations took which have walked the same path so far
    (on a tie the lower alternative, own steps last); it ends where none of them goes further. An
    adjudicating annotation overrides the others. Without annotations it is the solution as sampled.
    """
    if not record.annotations:
        return [Taken(position, 0, None, None) for position, at in enumerate(record.positions) if at]
    return agreed_path(record.annotations)


def agreed_path(annotations: Sequence[RecordAnnotation]) -> list[Taken]:
    """The consensus path of annotations; nothing for none."""
    walked = [taken_path(a.finish_reason, a.path) for a in _deciding(annotations)]
    agreed: list[Taken] = []
    while True:
        here = len(agreed)
        votes = Counter(path[here][:3] for path in walked if len(path) > here)
        if not votes:
            return agreed
        position, alternative, own_text = min(votes, key=lambda step: (-votes[step], step[1] is None, step[1] or 0))
        agreed.append(Taken(position, alternative, own_text, None))
        walked = [path for path in walked if len(path) > here and path[here][:3] == agreed[-1][:3]]


def parting(walked: Iterable[Taken], agreed: Iterable[Taken]) -> float:
    """The position at which two paths take different steps; infinity where neither contradicts the other."""
    taken = {step.position: (step.alternative, step.own_text) for step in agreed}
    apart = (s.position for s in walked if taken.get(s.position, s[1:3]) != (s.alternative, s.own_text))
    return next(apart, inf)


def _deciding(annotations: Sequence[RecordAnnotation]) -> Sequence[RecordAnnotation]:
    return [a for a in annotations if a.adjudicates][-1:] or annotations


def agreed_rating(record: Record, step: Taken) -> int | None:
    """The most probable rating of a step by the record's consensus, else by its annotations' majority.

    On a tie the worse one; None where nobody rated it, and for a step that a person wrote.
    """
    if step.alternative is None:
        return None
    for one in record.consensus:
        if (one.position, one.alternative) == (step.position, step.alternative):
            return min((-one.bad, -1), (-one.neutral, 0), (-one.good, 1))[1]
    votes = Counter(
        rating.rating
        for annotation in _deciding(record.annotations)
        for place in annotation.path
        if place.position == step.position
        for rating in place.ratings
        if rating.alternative == step.alternative and rating.rating is not None
    )
    return min(votes, key=lambda rating: (-votes[rating], rating), default=None)
