"""The path of an annotation and its first error.

`chosen` alone does not give the path: it is None for a step that the person wrote, at the final error, and after
giving up. The step at a position is the chosen completion. If the person ended here with a found error, it is the
first completion rated -1 in the order shown (the sampled one in PRM800K phase 2); a step of the person's own is then a
correction. Otherwise it is the person's own step. The path ends at a position with none of these.
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
    """The steps of the annotation's path, in order."""
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
    """Position of the first step on the path rated -1; -1 for none, None if unknown.

    Only a finished annotation shows that there is no error; after giving up it is unknown.
    """
    for step in taken_path(finish_reason, path):
        if step.rating is not None and step.rating.rating == -1:
            return step.position
    return -1 if finish_reason == "solution" else None


def consensus_path(record: Record) -> list[Taken]:
    """The path that the annotations of a record agree on, without ratings; the sampled one without annotations.

    At each position it takes the step that most annotations on the same path so far took (on a tie the lower
    alternative, own steps last). It ends where none of them continues. An adjudication overrides other annotations.
    """
    if not record.annotations:
        return [Taken(position, 0, None, None) for position, at in enumerate(record.positions) if at]
    return agreed_path(record.annotations)


def agreed_path(annotations: Sequence[RecordAnnotation]) -> list[Taken]:
    """The consensus path of annotations; empty without any."""
    walked = [[step[:3] for step in taken_path(a.finish_reason, a.path)] for a in _deciding(annotations)]
    agreed: list[tuple[int, int | None, str | None]] = []
    while any(path != walked[0] for path in walked[1:]):
        here = len(agreed)
        votes = Counter(path[here] for path in walked if len(path) > here)
        agreed.append(min(votes, key=lambda step: (-votes[step], step[1] is None, step[1] or 0)))
        walked = [path for path in walked if len(path) > here and path[here] == agreed[-1]]
    return [Taken(*step, None) for step in (walked[0] if walked else agreed)]


def ratings_beside(annotation: RecordAnnotation) -> int:
    """The number of ratings of completions that are not on the label's own path."""
    if max([len(place.ratings) for place in annotation.path], default=0) < 2:
        return 0
    on_path = {(step.position, step.alternative) for step in taken_path(annotation.finish_reason, annotation.path)}
    return sum(
        rating.rating is not None and (place.position, rating.alternative) not in on_path
        for place in annotation.path
        for rating in place.ratings
    )


def parting(walked: Iterable[Taken], agreed: Iterable[Taken]) -> float:
    """The first position at which two paths take different steps; infinity if there is none."""
    taken = {step.position: (step.alternative, step.own_text) for step in agreed}
    apart = (s.position for s in walked if taken.get(s.position, s[1:3]) != (s.alternative, s.own_text))
    return next(apart, inf)


def _deciding(annotations: Sequence[RecordAnnotation]) -> Sequence[RecordAnnotation]:
    return [a for a in annotations if a.adjudicates][-1:] or annotations


def agreed_rating(record: Record, step: Taken) -> int | None:
    """The most probable rating of a step by the record's consensus, else the majority of its annotations.

    The lower rating wins a tie. None if nobody rated the step or a person wrote it.
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
