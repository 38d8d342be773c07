"""The consensus of a solution's annotations on each of its steps."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import inf, prod
from typing import Any, NamedTuple

import msgspec

from prm.consensus import Evidence, Fit, Place, Posterior, Step, Vote, consensus_model
from prm.formats.path import agreed_path, parting, taken_path
from prm.formats.record import Consensus, Record, RecordAnnotation
from prm.messages import Message
from prm.vocabulary import MACHINES, RATINGS

DIGITS = 4  # of a posterior, so that the same labels give the same file on any machine


class _Counted(NamedTuple):
    """The votes that count on each completion of a solution, and the ratings that adjudications decided."""

    votes: dict[Place, list[tuple[str, int]]]
    settled: dict[Place, int]


def consensus_of(annotations: Sequence[RecordAnnotation]) -> list[Consensus]:
    """The vote shares of each rated completion of a solution; see `consensus_of_each`."""
    if len(annotations) == 1:
        [only] = annotations
        rated, adjudicates = sorted(_rated(only)), only.adjudicates
        return [Consensus(*at, *ALONE[rating], 1, adjudicated=adjudicates) for at, rating in rated]
    votes, settled = _count(annotations)
    return [_by_shares(step, voted, settled.get(step)) for step, voted in votes.items()]


def consensus_of_each(
    solutions: Sequence[tuple[Sequence[RecordAnnotation], str]], fit: Fit | None
) -> list[list[Consensus]]:
    """The posteriors of each solution's rated completions, by position and alternative.

    Pass each solution as the latest revisions of its annotations, and its domain.

    - The posterior is the share of each rating among the votes, or with `fit` the probability of each rating given who
      voted. The weight is then the probability that the step is reached without an earlier error, and that at least one
      voter distinguishes good from bad.
    - A step rated by an adjudication has that rating; the last adjudication decides. If it ends before the solution
      does, votes on later steps do not count, because they missed the error or the bad problem.
    - An unsure step is not a vote.
    - If people chose different paths, only votes along the agreed path count, because the others rated the same
      completion after different steps.
    """
    if fit is None:
        return [consensus_of(annotations) for annotations, _ in solutions]
    counted = [_count(annotations) for annotations, _ in solutions]
    posteriors = fit.posteriors(
        [
            Vote(number, position, person, rating, alternative, domain)
            for number, ((votes, settled), (_, domain)) in enumerate(zip(counted, solutions, strict=True))
            for (position, alternative), voted in votes.items()
            if (position, alternative) not in settled
            for person, rating in voted
        ]
    )
    return [
        [
            _by_shares(place, voted, settled[place])
            if place in settled
            else _by_fit(place, voted, posteriors[number, *place], fit)
            for place, voted in votes.items()
        ]
        for number, (votes, settled) in enumerate(counted)
    ]


def _count(annotations: Sequence[RecordAnnotation]) -> _Counted:
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
    counted = {step: votes for step, votes in sorted((elsewhere | votes_on_path).items()) if step[0] <= last}
    return _Counted(counted, settled)


@consensus_model("shares", title=Message("consensus_alike"))
def shares(evidence: Evidence, *, start: Mapping[str, Any] | None = None) -> None:
    """All ratings count equally."""


def evidence_of(records: Iterable[tuple[Hashable, Record, RecordAnnotation | None]], alone: Iterable[Vote]) -> Evidence:
    """The evidence in these solutions, each with its reference label if it has one. Pass latest revisions only.

    An adjudication fixes the truth and is not a vote of its author, who would always be right. A reference label is
    not a vote either. `alone` are the votes on all other solutions.
    """
    votes: list[Vote] = list(alone)
    settled: dict[Step, int] = {}
    gold: list[Step] = []
    for solution, record, reference in records:
        if reference is not None:
            settled |= {(solution, *place): rating for place, rating in _rated(reference)}
            gold += [(solution, *place) for place, _ in _rated(reference)]
        for annotation, parted in zip(record.annotations, _partings(record.annotations), strict=True):
            for place, rating in _rated(annotation):
                if annotation.adjudicates:
                    settled[solution, *place] = rating
                elif place[0] <= parted:
                    votes.append(Vote(solution, place[0], person_of(annotation), rating, place[1], record.domain))
    return Evidence(votes, settled, gold)


def with_reliability(annotation: RecordAnnotation, fit: Fit) -> RecordAnnotation:
    """The annotation with the reliability of its annotator, if the fit measures it."""
    reliability = fit.reliability(person_of(annotation))
    if reliability is None:
        return annotation
    return msgspec.structs.replace(
        annotation,
        reliability=round(reliability.value, DIGITS),
        reliability_interval=(round(reliability.low, DIGITS), round(reliability.high, DIGITS)),
        shared_steps=reliability.labels,
    )


def person_of(annotation: RecordAnnotation) -> str:
    """The labeller whose reliability is estimated: a person, a version of a machine, or an imported source."""
    if annotation.annotator and annotation.source_kind in MACHINES:
        return f"{annotation.annotator} {annotation.source_name}".strip()
    return annotation.annotator or f"{annotation.source_kind} {annotation.source_name}"


def _partings(annotations: Sequence[RecordAnnotation]) -> Sequence[float]:
    """The position after which each annotation's path differs from the agreed one; infinity if it does not."""
    if len(annotations) < 2 or not any(place.chosen or place.own_text for a in annotations for place in a.path):
        return [inf] * len(annotations)
    agreed = agreed_path(annotations)
    return [parting(taken_path(a.finish_reason, a.path), agreed) for a in annotations]


def _rated(annotation: RecordAnnotation) -> list[tuple[Place, int]]:
    return [
        ((place.position, rating.alternative), rating.rating)
        for place in annotation.path
        for rating in place.ratings
        if rating.rating is not None
    ]


def _last_decided(annotation: RecordAnnotation) -> float:
    """The last position that an adjudication leaves open to votes; infinity if it covers the whole solution."""
    if annotation.finish_reason == "solution":
        return inf
    return max((step[0] for step, _ in _rated(annotation)), default=-1)


def _by_shares(step: Place, votes: list[tuple[str, int]], settled: int | None) -> Consensus:
    if settled is not None:
        return Consensus(*step, *_shares([settled]), votes=1, adjudicated=True)
    return Consensus(*step, *_shares([rating for _, rating in votes]), votes=len(votes))


def _by_fit(step: Place, votes: list[tuple[str, int]], posterior: Posterior, fit: Fit) -> Consensus:
    good, neutral = round(posterior.good, DIGITS), round(posterior.neutral, DIGITS)
    bad = round(max(1 - good - neutral, 0.0), DIGITS)
    measured = (fit.reliability(person) for person, _ in votes)
    ignorant = prod(1 - max(reliability.value, 0.0) if reliability else 0.0 for reliability in measured)
    weight = round(posterior.reached * (1 - ignorant), DIGITS)
    return Consensus(*step, good, neutral, bad, votes=len(votes), weight=weight)


def _shares(ratings: list[int]) -> tuple[float, float, float]:
    good, neutral, bad = (ratings.count(rating) / len(ratings) for rating in RATINGS)
    return good, neutral, bad


# Precomputed, because most steps have one vote.
ALONE: dict[int, tuple[float, float, float]] = {rating: _shares([rating]) for rating in RATINGS}
