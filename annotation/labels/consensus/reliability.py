"""The default consensus model: a hierarchical model of the truth and of each annotator. Pure numpy.

The truth of a solution is the place of its first error, or that of each step apart (`chains`). Each person has error
rates, which are pooled (`rates`). Votes that resemble each other beyond the truth count less (`copies`). Gold and
adjudications are certain truths. EM finds the most probable rates, and held-out gold calibrates the posteriors.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from annotation.labels.consensus.chains import Array, Ballots, Chain, expect, link, shares
from annotation.labels.consensus.copies import Kinship, compare, declared, pair, weigh
from annotation.labels.consensus.crowd import Crowd, crowd_of
from annotation.labels.consensus.rates import COMPETENCE, HABIT, pool
from annotation.labels.consensus.tally import Tally, shares_of_ratings, tally_votes
from prm.consensus import Evidence, Step, Vote, consensus_model
from prm.messages import Message
from prm.vocabulary import RATINGS

ROUNDS = (2, 20, 200)  # of EM between comparisons of votes; few before the first, or near copies become the truth
CLOSE_ENOUGH = 1e-5
UNCHECKED = 200.0  # a person's ratings of steps without a known truth count as at most so many
BY_VOTES = 10.0  # steps that the shares of all ratings count as, beside gold, in what is expected of a step
EXPECTED = 0.2  # share of that in the prior: the frequency of errors and people's rates can explain each other
BY_ALL_DOMAINS = 10.0  # steps that the prior of all domains counts as in that of one
FOLDS = 4
ENOUGH_GOLD = 20  # steps with votes
UNCALIBRATED = 0.25  # correlation of errors in posteriors without gold: the least mean NLL on three public crowds
TEMPERATURES = np.geomspace(0.5, 8.0, 29)
FLOORS = np.geomspace(0.002, 0.3, 16)
FLOOR, FLOOR_SPREAD, TEMPERATURE_SPREAD = 0.04, 1.0, 0.5  # before any gold, with deviations of the logarithms


@consensus_model("reliability", restore=Crowd.restore, title=Message("consensus_by_reliability"))
def estimate(evidence: Evidence, *, start: Mapping[str, Any] | None = None) -> Crowd | None:
    """Fit the model; None if no step is settled and nobody shares one, because then nothing shows who is right."""
    crowd = _fit(evidence, None if start is None else Crowd.restore(start))
    return crowd and _calibrate(crowd, evidence)


def _fit(evidence: Evidence, start: Crowd | None = None) -> Crowd | None:
    tally = tally_votes(evidence)
    if tally is None:
        return None
    ballots, worth, habits = tally.checked, _worth(tally), tally.habits(HABIT)
    truth = tally.first_guess
    weight = np.ones(len(ballots.step))
    rates = pool(tally.count(truth, worth), habits, np.full(tally.everyone, COMPETENCE))
    confusion = rates.confusion if start is None else _confusion_at(start, tally, rates.confusion)
    expected = _expected(ballots, evidence)
    prior = np.tile(expected, (len(tally.domains) + 1, 1))
    kinship, pairs = declared(evidence.families, tally.people), pair(ballots)
    for rounds in ROUNDS:
        weight = weigh(ballots, kinship)
        for _ in range(rounds):
            before, truth = truth, expect(ballots, prior, confusion, weight)
            rates = pool(tally.count(truth, worth), habits, rates.competence)
            confusion, prior = rates.confusion, _prior_of(ballots, truth, expected, len(tally.domains))
            if np.abs(truth - before).max() < CLOSE_ENOUGH:
                break
        if rounds != ROUNDS[-1]:
            kinship = compare(ballots, pairs, truth, confusion, weight, kinship)
    prior = _prior_of_all(tally, evidence, prior, confusion, kinship)
    return crowd_of(tally, prior, confusion, tally.count(truth**2, worth), kinship=kinship, floor=FLOOR)


def _worth(tally: Tally) -> Array:
    """What each checked vote [votes] counts in the rates of its person."""
    ballots = tally.checked
    settled = ballots.known[ballots.step] >= 0
    unsettled = np.bincount(ballots.person, tally.times * ~settled, tally.everyone)
    limited = (UNCHECKED / (unsettled + UNCHECKED))[ballots.person]
    worth: Array = tally.times * np.where(settled, 1.0, limited)
    return worth


def _expected(ballots: Ballots, evidence: Evidence) -> Array:
    """The classes [classes] that are expected of a step: those of gold, and the shares of these ratings."""
    gold = Counter(evidence.settled[step] for step in evidence.gold)
    return shares(BY_VOTES * shares_of_ratings(ballots) + [gold[rating] for rating in RATINGS])


def _confusion_at(start: Crowd, tally: Tally, confusion: Array) -> Array:
    """The confusion of an earlier fit, and the given one of people whom it does not have."""
    earlier = confusion.copy()
    for person, number in tally.people.items():
        if person in start.people:
            earlier[number, :-1] = start.people[person].confusion
    earlier[:, -1] = start.after
    return earlier


def _prior_of(ballots: Ballots, truth: Array, expected: Array, domains: int) -> Array:
    """The prior [domains + 1, classes] of the steps of each domain, and of all."""
    columns = [np.bincount(ballots.domain, ballots.times * column, domains + 1) for column in truth.T[:-1]]
    counts = np.stack(columns, axis=1)
    everywhere = shares(counts.sum(axis=0) + expected)
    prior: Array = (1 - EXPECTED) * shares(counts + BY_ALL_DOMAINS * everywhere) + EXPECTED * expected
    return prior


def _prior_of_all(tally: Tally, evidence: Evidence, prior: Array, confusion: Array, kinship: Kinship) -> Array:
    """The prior of all steps, also those that one person rated: these show how common a class is, but not who is right.

    The rates stay fixed. The likelihood is then concave in the prior, so EM finds its one maximum.
    """
    ballots, expected = tally.all, _expected(tally.all, evidence)
    weight = weigh(ballots, kinship)
    for _ in range(ROUNDS[-1]):
        truth = expect(ballots, prior, confusion, weight)
        before, prior = prior, _prior_of(ballots, truth, expected, len(tally.domains))
        if np.abs(prior - before).max() < CLOSE_ENOUGH:
            break
    return prior


def _calibrate(crowd: Crowd, evidence: Evidence) -> Crowd:
    """The fit with the most probable temperature and floor, judged on gold by fits that do not have it.

    Without enough gold the posteriors of many votes are less sure, because common errors are then unknown.
    """
    if len({vote.step for vote in evidence.votes} & set(evidence.gold)) < ENOUGH_GOLD:
        return msgspec.structs.replace(crowd, suspected=UNCALIBRATED)
    losses = np.zeros((len(TEMPERATURES), len(FLOORS)))
    losses += (0.5 * (np.log(TEMPERATURES) / TEMPERATURE_SPREAD) ** 2)[:, None]
    losses += 0.5 * (np.log(FLOORS / FLOOR) / FLOOR_SPREAD) ** 2
    for solutions in _folds(evidence):
        held_out = {step: rating for step, rating in evidence.settled.items() if step[0] in solutions}
        rest = {step: rating for step, rating in evidence.settled.items() if step not in held_out}
        fitted = _fit(msgspec.structs.replace(evidence, settled=rest, gold=[s for s in evidence.gold if s in rest]))
        if fitted is not None:
            losses += _losses(fitted, [vote for vote in evidence.votes if vote.solution in solutions], held_out)
    best = np.unravel_index(losses.argmin(), losses.shape)
    return msgspec.structs.replace(crowd, temperature=float(TEMPERATURES[best[0]]), floor=float(FLOORS[best[1]]))


def _folds(evidence: Evidence) -> list[set[Hashable]]:
    """The solutions with gold in parts, which do not depend on the order of the votes."""
    gold = {step[0] for step in evidence.gold}
    chains: dict[Hashable, list[Chain]] = {}
    for steps, chain in link([vote for vote in evidence.votes if vote.solution in gold], evidence.settled):
        chains.setdefault(steps[0][0], []).append(chain)
    ordered = sorted(chains, key=lambda solution: chains[solution])
    return [set(ordered[number::FOLDS]) for number in range(min(FOLDS, len(ordered)))]


def _losses(crowd: Crowd, votes: Sequence[Vote], truth: Mapping[Step, int]) -> Array:
    """The summed negative log-likelihood [temperatures, floors] of these steps."""
    linked = list(link(votes, {}))
    steps = [step for steps, _ in linked for step in steps]
    places = np.array([place for place, step in enumerate(steps) if step in truth], dtype=np.intp)
    classes = np.array([RATINGS.index(truth[step]) for step in steps if step in truth], dtype=np.intp)
    losses = np.empty((len(TEMPERATURES), len(FLOORS)))
    for row, temperature in enumerate(TEMPERATURES):
        tempered = msgspec.structs.replace(crowd, temperature=float(temperature))
        posterior, _, usual = tempered.judge([chain for _, chain in linked])
        p, rest = posterior[places, classes, None], usual[places, classes, None]
        losses[row] = -np.log((1 - FLOORS) * p + FLOORS * rest).sum(axis=0)
    return losses
