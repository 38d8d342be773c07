"""Votes that resemble each other more than the truth explains, and what each then counts. Pure numpy.

The model takes people's errors for independent. Judges of one model family repeat each other's errors, and all people
err on the same hard steps. For members with correlation r of their errors, m votes are worth m / (1 + (m - 1) r)
(L. Kish's design effect, Survey Sampling, 1965).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotation.labels.consensus.chains import NEVER, Array, Ballots, Indices

USUAL = 0.1  # correlation of the errors of any two people before there is gold: .11 and .06 in two public crowds
IN_FAMILY = 0.9  # of two members of one family, before they can be compared with others
STEPS_BEHIND = 20.0  # the number of steps that either counts as
NEAR_COPY = 0.5  # two people with surely a higher correlation are one group
FEWEST, SURELY = 20, 3.3  # common steps for that, and standard errors
OTHERS = 3  # voters beside the two on a step that is not settled
MOST_PAIRS = 100_000  # pairs of votes that are compared


@dataclass(frozen=True)
class Kinship:
    """`group` [people + 1] numbers the groups, the last is for strangers; `within` [groups] and `among` correlate."""

    group: Indices
    within: Array
    among: float


@dataclass(frozen=True)
class Pairs:
    """Pairs of votes on the same step by different people, as indices of the votes."""

    first: Indices
    second: Indices


def declared(families: Mapping[str, str], people: Mapping[str, int]) -> Kinship:
    """The kinship before any votes are compared."""
    first: dict[str, int] = {}
    group = np.arange(len(people) + 1)
    for person, number in people.items():
        if person in families:
            group[number] = first.setdefault(families[person], number)
    return Kinship(group, np.full(len(group), IN_FAMILY), USUAL)


def weigh(ballots: Ballots, kinship: Kinship) -> Array:
    """What each vote counts beside the others on its step, from 0 to 1."""
    on_step = np.bincount(ballots.step)[ballots.step]
    groups = len(kinship.group)
    own = kinship.group[ballots.person]
    _, place, sizes = np.unique(ballots.step * groups + own, return_inverse=True, return_counts=True)
    in_group = sizes[place]
    weight: Array = 1 / (1 + kinship.within[own] * (in_group - 1) + kinship.among * (on_step - in_group))
    return weight


def pair(ballots: Ballots) -> Pairs:
    """All pairs, or an even sample of them if there are too many."""
    order = np.argsort(ballots.step, kind="stable")
    step = ballots.step[order]
    firsts, seconds = [], []
    for distance in range(1, int(np.bincount(step, minlength=1).max(initial=0))):
        here = np.flatnonzero(step[:-distance] == step[distance:])
        firsts.append(order[here])
        seconds.append(order[here + distance])
    first = np.concatenate(firsts) if firsts else np.zeros(0, dtype=np.intp)
    second = np.concatenate(seconds) if seconds else np.zeros(0, dtype=np.intp)
    chosen = np.flatnonzero(ballots.person[first] != ballots.person[second])
    if len(chosen) > MOST_PAIRS:
        chosen = chosen[np.linspace(0, len(chosen) - 1, MOST_PAIRS).astype(np.intp)]
    return Pairs(first[chosen], second[chosen])


def compare(ballots: Ballots, pairs: Pairs, truth: Array, confusion: Array, weight: Array, kinship: Kinship) -> Kinship:
    """The kinship in the residuals of the votes: what remains of them beside the truth.

    The truth of a step is taken without the votes of both groups. Correlations are measured on settled steps only,
    because elsewhere the common error of many people passes for the truth.
    """
    kinship = _with_near_copies(ballots, pairs, truth, confusion, weight, kinship)
    settled = np.flatnonzero(ballots.known[ballots.step[pairs.first]] >= 0)
    if not len(settled):
        return kinship
    pairs = Pairs(pairs.first[settled], pairs.second[settled])
    covariance, variance = _residuals(ballots, pairs, truth, confusion, weight, kinship)
    step, groups = ballots.step[pairs.first], len(kinship.group)
    own = kinship.group[ballots.person[pairs.first]]
    same = own == kinship.group[ballots.person[pairs.second]]
    of = np.where(same, own, groups)  # the group of a pair; the last is pairs of two groups
    # Each step counts once, however many pairs it has.
    _, place, sizes = np.unique(step * (groups + 1) + of, return_inverse=True, return_counts=True)
    once = ballots.times[step] / sizes[place]
    summed, expected = (np.bincount(of, weights=once * part, minlength=groups + 1) for part in (covariance, variance))
    before = np.append(np.full(groups, IN_FAMILY), USUAL)
    behind = STEPS_BEHIND * variance.mean()
    correlation = np.clip((summed + behind * before) / (expected + behind + NEVER), 0, 1)
    return Kinship(kinship.group, correlation[:-1], float(correlation[-1]))


def _residuals(
    ballots: Ballots, pairs: Pairs, truth: Array, confusion: Array, weight: Array, kinship: Kinship
) -> tuple[Array, Array]:
    """The covariance of each pair's residuals, and the product of their independent standard deviations."""
    groups = len(kinship.group)
    _, place = np.unique(ballots.step * groups + kinship.group[ballots.person], return_inverse=True)
    votes = weight[:, None] * np.log(np.maximum(confusion, NEVER))[ballots.person, :, ballots.word]
    by_group = np.stack([np.bincount(place, weights=column) for column in votes.T], axis=1)
    first, second = place[pairs.first], place[pairs.second]
    step = ballots.step[pairs.first]
    logs = np.log(truth[step] + NEVER) - by_group[first] - np.where((first == second)[:, None], 0, by_group[second])
    without = np.exp(logs - logs.max(axis=1, keepdims=True))
    without /= without.sum(axis=1, keepdims=True)
    without = np.where(ballots.known[step][:, None] >= 0, truth[step], without)
    left, right = confusion[ballots.person[pairs.first]], confusion[ballots.person[pairs.second]]
    words = np.eye(confusion.shape[2])
    expected_left, expected_right = (np.einsum("nk,nkw->nw", without, rates) for rates in (left, right))
    residuals = (words[ballots.word[pairs.first]] - expected_left) * (
        words[ballots.word[pairs.second]] - expected_right
    )
    by_truth = np.einsum("nk,nkw,nkw->n", without, left, right) - (expected_left * expected_right).sum(axis=1)
    spread = [1 - np.einsum("nk,nkw->n", without, rates**2) for rates in (left, right)]
    return residuals.sum(axis=1) - by_truth, np.sqrt(spread[0] * spread[1])


def _with_near_copies(
    ballots: Ballots, pairs: Pairs, truth: Array, confusion: Array, weight: Array, kinship: Kinship
) -> Kinship:
    """The kinship with the groups of people joined who are surely near copies of each other.

    Two people who share enough settled steps are judged by these alone. Elsewhere several others must vote on a step:
    beside one poor rater, two good ones would pass for copies.
    """
    covariance, variance = _residuals(ballots, pairs, truth, confusion, weight, kinship)
    people = len(kinship.group)
    ends = np.sort(np.stack([ballots.person[pairs.first], ballots.person[pairs.second]]), axis=0)
    codes, place = np.unique(ends[0] * people + ends[1], return_inverse=True)
    times = ballots.times[ballots.step[pairs.first]]
    settled = times * (ballots.known[ballots.step[pairs.first]] >= 0)
    enough = np.bincount(place, weights=settled)[place] >= FEWEST if len(codes) else settled
    several_others = np.bincount(ballots.step)[ballots.step[pairs.first]] >= 2 + OTHERS
    times = np.where(enough, settled, times * several_others)
    common, summed, expected, squares = (
        np.bincount(place, weights=times * part, minlength=len(codes))
        for part in (np.ones_like(variance), covariance, variance, covariance**2)
    )
    surely = (summed - SURELY * np.sqrt(squares)) / (expected + NEVER)
    group = kinship.group.copy()
    for code in codes[(common >= FEWEST) & (surely > NEAR_COPY)].tolist():
        joined = group[[code // people, code % people]]
        group[np.isin(group, joined)] = joined.min()
    return Kinship(group, kinship.within, kinship.among)
