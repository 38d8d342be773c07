"""Reports what a consensus fit learned: annotators, class shares, quality on known steps, and what it changed. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import log
from typing import cast

import msgspec
import numpy as np

from annotation.models.consensus_fit import AnnotatorFigures, FitReport, GoldFigures, StepChange
from prm.consensus import Estimate, Evidence, Fit, Measured, Posterior, Step, Vote
from prm.evaluation.metrics import as_metric, draws_of
from prm.vocabulary import RATINGS

FOLDS = 2  # of the solutions with a known rating: each is inferred by a fit that did not know it
BOOTSTRAP = 1000
MOST_CHANGES = 50
LEAST_CHANGE = 0.05  # of the probability of bad, below which a step has not changed
DIGITS = 6
NEVER = 1e-6  # the probability of a rating that a fit rules out, so that its logarithm exists

Posteriors = Mapping[Step, Posterior]
Array = np.ndarray


def report_fit(estimate: Estimate, evidence: Evidence, fit: Fit | None, before: Fit | None) -> FitReport:
    """What `fit` learned from the evidence, and how it differs from the fit `before` it."""
    votes_on: dict[int, list[Vote]] = defaultdict(list)
    for vote in evidence.votes:
        votes_on[vote.solution].append(vote)  # type: ignore[index]
    posteriors = _posteriors(fit, evidence.votes)
    changes = list(_changes(before, votes_on, posteriors, evidence)) if before and fit else []
    large = [change for change in changes if abs(change.after - change.before) >= LEAST_CHANGE]
    large.sort(key=lambda change: (-abs(change.after - change.before), change.solution, change.position))
    return FitReport(
        labels=sum(len({vote.person for vote in votes}) for votes in votes_on.values()),
        solutions=len(votes_on),
        steps=len(posteriors),
        annotators=list(_annotators(fit, evidence)) if fit else [],
        shares=_shares(votes_on, posteriors),
        temperature=float(getattr(fit, "temperature", 1.0)),
        gold=_on_known(estimate, evidence, fit, votes_on),
        groups=getattr(fit, "groups", []),
        changed=sum(change.flipped for change in changes),
        changes=large[:MOST_CHANGES],
    )


def _posteriors(fit: Fit | None, votes: Sequence[Vote]) -> Posteriors:
    """The posterior of each completion in the votes; vote shares without a fit."""
    if fit is not None:
        return fit.posteriors(votes)
    ratings: dict[Step, list[int]] = defaultdict(list)
    for vote in votes:
        ratings[vote.step].append(vote.rating)
    return {
        step: Posterior(*(given.count(rating) / len(given) for rating in RATINGS)) for step, given in ratings.items()
    }


def _annotators(fit: Fit, evidence: Evidence) -> Iterator[AnnotatorFigures]:
    for person in sorted({vote.person for vote in evidence.votes}):
        if (reliability := fit.reliability(person)) is not None:
            yield AnnotatorFigures(person, reliability, evidence.families.get(person, ""))


def _shares(votes_on: Mapping[int, Sequence[Vote]], posteriors: Posteriors) -> dict[str, tuple[float, float, float]]:
    """The mean posterior of each domain's steps, and of all steps under ""."""
    of_domain: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for step, posterior in posteriors.items():
        for domain in {"", votes_on[cast(int, step[0])][0].domain}:
            of_domain[domain].append(posterior[: len(RATINGS)])
    sums = {domain: np.sum(rows, axis=0) for domain, rows in sorted(of_domain.items())}
    return {domain: tuple((total / total.sum()).round(DIGITS).tolist()) for domain, total in sums.items()}


def _changes(
    before: Fit, votes_on: Mapping[int, Sequence[Vote]], posteriors: Posteriors, evidence: Evidence
) -> Iterator[StepChange]:
    """The probability of bad under both fits, of each step that several people rated and nobody decided."""
    several = (votes for votes in votes_on.values() if len({vote.person for vote in votes}) > 1)
    for step, then in before.posteriors([*chain.from_iterable(several)]).items():
        if step not in evidence.settled:
            now, (solution, position, alternative) = posteriors[step], step
            bad = round(then.bad, DIGITS), round(now.bad, DIGITS)
            yield StepChange(
                cast(int, solution), position, alternative, *bad, flipped=_likeliest(then) != _likeliest(now)
            )


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
    scores: dict[int, list[tuple[float, ...]]] = {solution: [] for solution in known}
    for held in (known[fold::FOLDS] for fold in range(FOLDS)):
        if held:
            hidden = {*held}
            settled = {step: rating for step, rating in evidence.settled.items() if step[0] not in hidden}
            gold = [step for step in evidence.gold if step in settled]
            blind = msgspec.structs.replace(evidence, settled=settled, gold=gold)
            fitted = estimate(blind, start=fit.parameters if fit else None)
            votes = [vote for solution in held for vote in votes_on[solution]]
            for solution, score in _scores(fitted, votes, truths):
                scores[solution].append(score)
    steps = np.array([len(scores[solution]) for solution in known])
    if not steps.sum():
        return None
    right, by_votes, lost, opinions = (
        np.array([sum(score[n] for score in scores[solution]) for solution in known]) for n in range(4)
    )
    draws = draws_of(len(known), BOOTSTRAP, seed=0)
    return GoldFigures(
        steps=int(steps.sum()),
        solutions=int((steps > 0).sum()),
        accuracy=_share(draws, right, steps),
        majority=_share(draws, by_votes, steps),
        nll=round(float(lost.sum() / steps.sum()), DIGITS),
        opinions=round(float(opinions.sum() / steps.sum()), DIGITS),
    )


def _share(draws: Array, counts: Array, of: Array) -> Measured:
    """A share with its interval by solution."""
    with np.errstate(invalid="ignore"):  # a resample without a known step
        metric = as_metric((draws @ counts) / (draws @ of))
    ends = (round(end or 0.0, DIGITS) for end in (metric.value, metric.low, metric.high))
    return Measured(*ends)


def _scores(
    fit: Fit | None, votes: Sequence[Vote], truths: Mapping[Step, int]
) -> Iterator[tuple[int, tuple[float, ...]]]:
    """For each known step: its solution, then 1 if the fit is right, 1 if most votes are, loss in nats, votes."""
    by_votes = _posteriors(None, votes)
    opinions = Counter(vote.step for vote in votes)
    for step, posterior in _posteriors(fit, votes).items():
        if (truth := truths.get(step)) is not None:
            chance = max(float(posterior[RATINGS.index(truth)]), NEVER)
            right = float(_likeliest(posterior) == truth)
            yield cast(int, step[0]), (right, float(_likeliest(by_votes[step]) == truth), -log(chance), opinions[step])
