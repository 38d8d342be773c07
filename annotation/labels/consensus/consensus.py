"""The consensus of a solution's annotations on each of its steps."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import inf, prod

import msgspec

from annotation.labels.consensus.reliability import Reliability
from prm.consensus import Estimate, Trust, Vote, Words, consensus_model
from prm.formats.path import agreed_path, parting, taken_path
from prm.formats.record import Consensus, Record, RecordAnnotation
from prm.messages import Message
from prm.vocabulary import RATINGS

Place = tuple[int, int]  # a completion: its position and alternative
DIGITS = 4  # of a posterior, so that the same labels give the same file on any machine


def consensus_of(annotations: Sequence[RecordAnnotation], reliability: Trust | None = None) -> list[Consensus]:
    """The posterior of each rated completion, by position and alternative. Pass latest revisions only.

    - The posterior is the share of each rating among the votes, or with `reliability` the probability of each rating
      given who voted. The weight is then the probability that at least one voter distinguishes good from bad.
    - A step rated by an adjudication has that rating; the last adjudication decides. If it ends before the solution
      does, votes on later steps do not count, because they missed the error or the bad problem.
    - An unsure step is not a vote.
    - If people chose different paths, only votes along the agreed path count, because the others rated the same
      completion after different steps.
    """
    votes_on_path: dict[Place, list[tuple[str, int]]] = defaultdict(list)
    elsewhere: dict[Place, list[tuple[str, int]]] = defaultdict(list)
    settled: dict[Place, int] = {}
    last = inf
    for annotation, parted in zip(annotations, _partings(annotations), strict=True):
        person = person_of(annotation)
        for step, rating in _rated(annotation):
            (votes_on_path if step[0] <= parted else elsewhere)[step].append((person, rating))
            if annotation.adjudicates:
                settled[step] = rating
        if annotation.adjudicates:
            last = _last_decided(annotation)
    counted = sorted((elsewhere | votes_on_path).items())
    return [_agreed(step, votes, settled.get(step), reliability) for step, votes in counted if step[0] <= last]


@consensus_model("shares", title=Message("consensus_alike"), learns=False)
def shares(votes: Sequence[Vote], *, settled: Mapping[Hashable, int], alone: Words | None) -> None:
    """All ratings count equally."""


def reliability_of(
    estimate: Estimate,
    records: Iterable[tuple[Record, RecordAnnotation | None]],
    alone: Words | None = None,
) -> Trust | None:
    """Fit `estimate` to the votes on shared steps. Pass latest revisions only.

    An adjudication fixes the truth and is not a vote of its author, who would always be right. A record's reference
    label, if there is one, is not a vote either. `alone` are the votes on all other solutions.
    """
    votes: list[Vote] = []
    settled: dict[Hashable, int] = {}
    for number, (record, reference) in enumerate(records):
        if reference is not None:
            settled |= {(number, step): rating for step, rating in _rated(reference)}
        for annotation, parted in zip(record.annotations, _partings(record.annotations), strict=True):
            for step, rating in _rated(annotation):
                if annotation.adjudicates:
                    settled[number, step] = rating
                elif step[0] <= parted:
                    votes.append(Vote((number, step), person_of(annotation), rating))
    return estimate(votes, settled=settled, alone=alone)


def with_reliability(annotation: RecordAnnotation, reliability: Reliability) -> RecordAnnotation:
    """The annotation with its annotator's informedness, and the measurement of it on their own shared steps."""
    person = person_of(annotation)
    informed = round(reliability.informedness(person), DIGITS)
    shared = reliability.votes.get(person, 0)
    measured = reliability.measured(person) if shared else None
    interval = measured and (round(measured.low, DIGITS), round(measured.high, DIGITS))
    return msgspec.structs.replace(annotation, reliability=informed, reliability_interval=interval, shared_steps=shared)


def person_of(annotation: RecordAnnotation) -> str:
    """The labeller whose reliability is estimated: a pseudonym, or an imported source."""
    return annotation.annotator or f"{annotation.source_kind} {annotation.source_name}"


def _partings(annotations: Sequence[RecordAnnotation]) -> Sequence[float]:
    """The position after which each annotation's path differs from the agreed one; infinity if it does not."""
    if len(annotations) < 2 or not any(place.chosen or place.own_text for a in annotations for place in a.path):
        return [inf] * len(annotations)
    agreed = agreed_path(annotations)
    return [parting(taken_path(a.finish_reason, a.path), agreed) for a in annotations]


def _rated(annotation: RecordAnnotation) -> Iterator[tuple[Place, int]]:
    for place in annotation.path:
        for rating in place.ratings:
            if rating.rating is not None:
                yield (place.position, rating.alternative), rating.rating


def _last_decided(annotation: RecordAnnotation) -> float:
    """The last position that an adjudication leaves open to votes; infinity if it covers the whole solution."""
    if annotation.finish_reason == "solution":
        return inf
    return max((step[0] for step, _ in _rated(annotation)), default=-1)


def _agreed(
    step: tuple[int, int], votes: list[tuple[str, int]], settled: int | None, reliability: Trust | None
) -> Consensus:
    if settled is not None:
        return Consensus(*step, *_shares([settled]), votes=1, adjudicated=True)
    if reliability is None and len(votes) == 1:
        return Consensus(*step, *ALONE[votes[0][1]], votes=1)
    if reliability is None:
        return Consensus(*step, *_shares([rating for _, rating in votes]), votes=len(votes))
    good, neutral, _ = (round(float(chance), DIGITS) for chance in reliability.posterior(votes))
    bad = round(max(1 - good - neutral, 0.0), DIGITS)
    informed = reliability.informedness if isinstance(reliability, Reliability) else lambda person: 1.0
    ignorant = prod(1 - max(informed(person), 0.0) for person, _ in votes)
    return Consensus(*step, good, neutral, bad, votes=len(votes), weight=round(1 - ignorant, DIGITS))


def _shares(ratings: list[int]) -> tuple[float, float, float]:
    good, neutral, bad = (ratings.count(rating) / len(ratings) for rating in RATINGS)
    return good, neutral, bad


# Precomputed, because most steps have one vote.
ALONE: dict[int, tuple[float, float, float]] = {rating: _shares([rating]) for rating in RATINGS}
