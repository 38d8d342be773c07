"""Reports what a consensus fit learned: annotators, class shares, quality on known steps, and what it changed. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import cast

import msgspec
import numpy as np

from annotation.models.consensus_fit import AnnotatorFigures, FitReport, GoldFigures, StepChange
from prm.consensus import Estimate, Evidence, Fit, Measured, Place, Posterior, Step, Vote
from prm.evaluation.metrics import as_metric, draws_of
from prm.vocabulary import RATINGS

FOLDS = 2  # of the solutions with a known rating: each is inferred by a fit that did not know it
BOOTSTRAP = 1000
MOST_CHANGES = 50
LEAST_CHANGE = 0.05  # of the probability of bad, below which a step has not changed
DIGITS = 6
NEVER = 1e-6  # the probability of a rating that a fit rules out, so that its logarithm exists

OfSolution = Mapping[Place, Posterior]
Array = np.ndarray


def report_fit(estimate: Estimate, evidence: Evidence, fit: Fit | None, before: Fit | None) -> FitReport:
    """What `fit` learned from the evidence, and how it differs from the fit `before` it."""
    votes_on: dict[int, list[Vote]] = defaultdict(list)
    for vote in evidence.votes:
        votes_on[vote.solution].append(vote)  # type: ignore[index]
    posteriors = {solution: _posteriors(fit, votes) for solution, votes in votes_on.items()}
    changes = list(_changes(before, votes_on, posteriors, evidence)) if before and fit else []
    large = [change for change in changes if abs(change.after - change.before) >= LEAST_CHANGE]
    large.sort(key=lambda change: (-abs(change.after - change.before), change.solution, change.position))
    return FitReport(
        labels=sum(len({vote.person for vote in votes}) for votes in votes_on.values()),
        solutions=len(votes_on),
        steps=sum(map(len, posteriors.values())),
        annotators=list(_annotators(fit, evidence)) if fit else [],
        shares=_shares(votes_on, posteriors),
        temperature=float(getattr(fit, "temperature", 1.0)),
        gold=_on_known(estimate, evidence, fit, votes_on),
        groups=getattr(fit, "groups", []),
        changed=sum(change.flipped for change in changes),
        changes=large[:MOST_CHANGES],
    )


def _posteriors(fit: Fit | None, votes: Sequence[Vote]) -> OfSolution:
    """The posterior of each completion in the votes on one solution; vote shares without a fit."""
    if fit is not None:
        return fit.posterior(votes)
    ratings: dict[Place, list[int]] = defaultdict(list)
    for vote in votes:
        ratings[vote.position, vote.alternative].append(vote.rating)
    return {
        place: Posterior(*(given.count(rating) / len(given) for rating in RATINGS)) for place, given in ratings.items()
    }


def _annotators(fit: Fit, evidence: Evidence) -> Iterator[AnnotatorFigures]:
    for person in sorted({vote.person for vote in evidence.votes}):
        if (reliability := fit.reliability(person)) is not None:
            yield AnnotatorFigures(person, reliability, evidence.families.get(person, ""))


def _shares(
    votes_on: Mapping[int, Sequence[Vote]], posteriors: Mapping[int, OfSolution]
) -> dict[str, tuple[float, float, float]]:
    """The mean posterior of each domain's steps, and of all steps under ""."""
    sums: dict[str, Array] = {}
    for solution, of_steps in posteriors.items():
        total = np.sum([posterior[: len(RATINGS)] for posterior in of_steps.values()], axis=0)
        for domain in {"", votes_on[solution][0].domain}:
            sums[domain] = sums.get(domain, 0) + total
    return {domain: tuple((sums[domain] / sums[domain].sum()).round(DIGITS).tolist()) for domain in sorted(sums)}


def _changes(
    before: Fit, votes_on: Mapping[int, Sequence[Vote]], posteriors: Mapping[int, OfSolution], evidence: Evidence
) -> Iterator[StepChange]:
    """The probability of bad under both fits, of each step that several people rated and nobody decided."""
    for solution, votes in votes_on.items():
        if len({vote.person for vote in votes}) < 2:
            continue
        for place, then in before.posterior(votes).items():
            if (solution, *place) not in evidence.settled:
                now = posteriors[solution][place]
                flipped = _likeliest(then) != _likeliest(now)
                yield StepChange(solution, *place, round(then.bad, DIGITS), round(now.bad, DIGITS), flipped)


def _likeliest(posterior: Posterior) -> int:
    return RATINGS[int(np.argmax(posterior[: len(RATINGS)]))]


def _on_known(
    estimate: Estimate, evidence: Evidence, fit: Fit | None, votes_on: Mapping[int, Sequence[Vote]]
) -> GoldFigures | None:
    """How well fits that do not know half of the known ratings infer them; None without votes on known steps.

    Gold is known whatever the votes say. Without any, the steps that a reviewer decided are used, which are harder.
    """
    truths = {step: evidence.settled[step] for step in evidence.gold} or evidence.settled
    known = sorted({cast(int, solution) for solution, _, _ in truths} & votes_on.keys())
    scores: dict[int, list[tuple[float, float, float]]] = {}
    for held in (known[fold::FOLDS] for fold in range(FOLDS)):
        if held:
            settled = {step: rating for step, rating in evidence.settled.items() if step[0] not in {*held}}
            gold = [step for step in evidence.gold if step in settled]
            blind = msgspec.structs.replace(evidence, settled=settled, gold=gold)
            fitted = estimate(blind, start=fit.parameters if fit else None)
            scores |= {solution: list(_scores(fitted, votes_on[solution], truths)) for solution in held}
    steps = np.array([len(scores[solution]) for solution in known])
    if not steps.sum():
        return None
    right, by_votes, lost = (
        np.array([sum(score[n] for score in scores[solution]) for solution in known]) for n in range(3)
    )
    draws = draws_of(len(known), BOOTSTRAP, seed=0)
    return GoldFigures(
        steps=int(steps.sum()),
        solutions=int((steps > 0).sum()),
        accuracy=_share(draws, right, steps),
        majority=_share(draws, by_votes, steps),
        nll=round(float(lost.sum() / steps.sum()), DIGITS),
    )


def _share(draws: Array, counts: Array, of: Array) -> Measured:
    """A share with its interval by solution."""
    with np.errstate(invalid="ignore"):  # a resample without a known step
        metric = as_metric((draws @ counts) / (draws @ of))
    ends = (round(end or 0.0, DIGITS) for end in (metric.value, metric.low, metric.high))
    return Measured(*ends)


def _scores(fit: Fit | None, votes: Sequence[Vote], truths: Mapping[Step, int]) -> Iterator[tuple[float, float, float]]:
    """Of each known step: 1 if the fit is right, 1 if most votes are, and the fit's loss in nats."""
    by_votes = _posteriors(None, votes)
    for place, posterior in _posteriors(fit, votes).items():
        truth = truths.get((votes[0].solution, *place))
        if truth is not None:
            chance = max(float(posterior[RATINGS.index(truth)]), NEVER)
            yield float(_likeliest(posterior) == truth), float(_likeliest(by_votes[place]) == truth), -log(chance)
