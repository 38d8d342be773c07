"""What the annotations of one solution say together about each of its steps."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.formats.record import Consensus, RecordAnnotation


def consensus_of(annotations: Sequence[RecordAnnotation]) -> list[Consensus]:
    """Each rated completion's share of votes, by position and alternative; give latest revisions only.

    A step that an adjudicating annotation rates has that rating alone; of several the last one decides.
    An unsure step is no vote.
    """
    votes: dict[tuple[int, int], list[int]] = defaultdict(list)
    settled: dict[tuple[int, int], int] = {}
    for annotation in annotations:
        for place in annotation.path:
            for rating in place.ratings:
                if rating.rating is None:
                    continue
                step = place.position, rating.alternative
                votes[step].append(rating.rating)
                if annotation.adjudicates:
                    settled[step] = rating.rating
    return [
        _agreed(step, [settled[step]] if step in settled else ratings, adjudicated=step in settled)
        for step, ratings in sorted(votes.items())
    ]


def _agreed(step: tuple[int, int], ratings: list[int], *, adjudicated: bool) -> Consensus:
    good, neutral, bad = (ratings.count(rating) / len(ratings) for rating in (1, 0, -1))
    return Consensus(*step, good, neutral, bad, votes=len(ratings), adjudicated=adjudicated)
