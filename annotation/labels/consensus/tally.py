"""The votes of an evidence, counted as a fit needs them. Pure numpy."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from annotation.labels.consensus.chains import CLASSES, Array, Ballots, count_votes, is_checked, link, pack, shares
from prm.consensus import Evidence
from prm.vocabulary import RATINGS

NEUTRAL = RATINGS.index(0)


@dataclass(frozen=True)
class Tally:
    """`people` and `domains` are numbered in the order of their names; the next number is for any other.

    `checked` has the chains that are settled or have several voters, from which people's rates are estimated, and
    `all` has every chain, from which the frequency of the classes is.
    """

    people: dict[str, int]
    domains: dict[str, int]
    checked: Ballots
    all: Ballots

    @property
    def everyone(self) -> int:
        return len(self.people) + 1

    @property
    def times(self) -> Array:
        """How often each checked vote occurs [votes]."""
        return self.checked.times[self.checked.step]

    @property
    def first_guess(self) -> Array:
        """The certain class of each checked step [steps, classes + 1], or the shares of its votes."""
        ballots = self.checked
        votes = np.zeros((len(ballots.chain), CLASSES + 1))
        np.add.at(votes, (ballots.step, ballots.word), 1.0)
        return np.where(ballots.known[:, None] >= 0, np.eye(CLASSES + 1)[ballots.known], shares(votes))

    def habits(self, added: float) -> Array:
        """The shares [people + 1, classes] of each person's checked ratings, with `added` ones like all ratings."""
        every_step = np.ones((len(self.checked.chain), 1))
        return shares(self.count(every_step, self.times)[:, 0] + added * shares_of_ratings(self.all))

    def count(self, truth: Array, worth: Array) -> Array:
        """The checked ratings [people + 1, classes + 1, words] by the class of the step, each by its `worth`."""
        return count_votes(self.checked, truth, worth, self.everyone, CLASSES)


def tally_votes(evidence: Evidence) -> Tally | None:
    """The tally; None if no step is settled and nobody shares one, because then nothing shows who is right.

    Equal chains are counted once, in an order of their own, so that a fit is fast and does not depend on the order of
    the votes.
    """
    chains = Counter(chain for _, chain in link(evidence.votes, evidence.settled))
    people = {person: number for number, person in enumerate(sorted({vote.person for vote in evidence.votes}))}
    domains = {domain: number for number, domain in enumerate(sorted({domain for domain, _ in chains}))}
    ordered = sorted(chains)
    checked = [chain for chain in ordered if is_checked(chain)]
    if not checked:
        return None
    packed = [pack(some, people, domains, [chains[chain] for chain in some]) for some in (checked, ordered)]
    return Tally(people, domains, *packed)


def shares_of_ratings(ballots: Ballots) -> Array:
    """The shares [classes] of the ratings, with an imagined one of each class.

    Neutral is not a class if nobody uses it and no step is neutral.
    """
    imagined = np.ones(CLASSES)
    imagined[NEUTRAL] = NEUTRAL in ballots.word or NEUTRAL in ballots.known
    return shares(np.bincount(ballots.word, ballots.times[ballots.step], CLASSES) + imagined)
