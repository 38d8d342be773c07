"""A fitted model of a crowd: the posterior of a solution given who voted, and the reliability of each person. Pure."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from annotation.labels.annotators.anchoring import Ends, gap_between
from annotation.labels.consensus.chains import BAD, NEVER, Array, Ballots, Chain, expect, link, pack, shares, survive
from annotation.labels.consensus.copies import Kinship, weigh
from annotation.labels.consensus.tally import Tally
from prm.consensus import Measured, Posterior, Reliability, Step, Vote
from prm.intervals import score_interval

Rows = list[list[float]]
HALF_A_LABEL = 0.5  # so that an interval without labels exists; it is then wide


class Person(msgspec.Struct, frozen=True):
    """`confusion` [classes, words] is how a person rates the steps of each class, in the order of RATINGS.

    `labels` counts their checked ratings, and `behind` [classes] those that show something of each row: less than all,
    because the truth of most steps is an estimate. `within` is the correlation of errors in their `group`.
    """

    confusion: Rows
    behind: list[float]
    labels: int
    group: int
    within: float


class Crowd(msgspec.Struct, frozen=True, dict=True):
    """`domains` has the prior of the classes in each domain, `elsewhere` that of others. `stranger` is anyone else.

    `after` is how people rate steps after the first error. `among` is the correlation of errors of any two people. A
    posterior's evidence is divided by the `temperature`; with the probability `floor` it shows nothing, because
    everybody errs alike. `suspected` is the correlation that posteriors allow for while no gold shows the real one.
    """

    domains: dict[str, list[float]]
    elsewhere: list[float]
    people: dict[str, Person]
    stranger: Person
    after: list[float]
    among: float
    temperature: float = 1.0
    floor: float = 0.0
    suspected: float = 0.0

    @classmethod
    def restore(cls, parameters: Mapping[str, Any]) -> "Crowd":
        return msgspec.convert(parameters, cls)

    @property
    def parameters(self) -> dict[str, Any]:
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values

    def posteriors(self, votes: Sequence[Vote]) -> dict[Step, Posterior]:
        linked = list(link(votes, {}))
        if not linked:
            return {}
        judged, reached, usual = self.judge([chain for _, chain in linked])
        rows = np.column_stack([(1 - self.floor) * judged + self.floor * usual, reached]).tolist()
        steps = (step for steps, _ in linked for step in steps)
        return {step: Posterior(*row) for step, row in zip(steps, rows, strict=True)}

    @property
    def groups(self) -> list[list[str]]:
        """The people of each group of several, declared or found."""
        members: dict[int, list[str]] = {}
        for name in sorted(self.people):
            members.setdefault(self.people[name].group, []).append(name)
        return sorted(names for names in members.values() if len(names) > 1)

    def judge(self, chains: Sequence[Chain]) -> tuple[Array, Array, Array]:
        """The posterior [steps, classes] of each step if no earlier one is bad, without the floor.

        Also the probability [steps] that no earlier one is bad, and the prior [steps, classes].
        """
        prior, confusion, kinship = self._arrays
        ballots = pack(chains, self._numbers, self._domain_numbers)
        truth = expect(ballots, prior, confusion, weigh(ballots, kinship) / self.temperature)
        usual = prior[ballots.domain]
        posterior, reached = shares(truth[:, :-1] + NEVER * usual), 1 - truth[:, -1]
        if self.suspected > self.among:
            posterior = shares(posterior ** self._confidence(ballots)[:, None])
            reached = survive(ballots, posterior[:, BAD])
        return posterior, reached, usual

    def _confidence(self, ballots: Ballots) -> Array:
        """The power [steps] of a step's posterior: what its votes are worth if errors correlate as suspected.

        A power keeps the decision, which weaker votes beside the same prior would not.
        """
        others = np.bincount(ballots.step, minlength=len(ballots.chain)) - 1
        confidence: Array = (1 + self.among * others) / (1 + self.suspected * others)
        return confidence

    def reliability(self, person: str) -> Reliability:
        return self._measured.get(person) or self._measure(self.stranger)

    @cached_property
    def _measured(self) -> dict[str, Reliability]:
        return {name: self._measure(person) for name, person in self.people.items()}

    def _measure(self, person: Person) -> Reliability:
        """Shares with Wilson's intervals for the person's own labels, and Newcombe's interval of their difference."""
        others = shares(np.array(self.elsewhere[:BAD]) + NEVER)
        invented = float(others @ np.array(person.confusion)[:BAD, BAD])
        finds = _share(person.confusion[BAD][BAD], person.behind[BAD] + HALF_A_LABEL)
        invents = _share(invented, sum(person.behind[:BAD]) + HALF_A_LABEL)
        gap = gap_between(finds, invents)
        return Reliability(gap.value, gap.low, gap.high, person.labels, Measured(*finds), Measured(*invents))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.people)}

    @cached_property
    def _domain_numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.domains)}

    @cached_property
    def _arrays(self) -> tuple[Array, Array, Kinship]:
        everyone = [*self.people.values(), self.stranger]
        confusion = np.array([[*person.confusion, self.after] for person in everyone])
        within = np.zeros(len(everyone))
        group = np.array([person.group for person in everyone])
        within[group] = [person.within for person in everyone]
        return np.array([*self.domains.values(), self.elsewhere]), confusion, Kinship(group, within, self.among)


def crowd_of(
    tally: Tally,
    prior: Array,
    confusion: Array,
    behind: Array,
    *,
    kinship: Kinship,
    floor: float = 0.0,
) -> Crowd:
    """The crowd with these estimates.

    `prior` [domains + 1, classes], `confusion` and `behind` [people + 1, classes + 1, words] as in `Tally.count`.
    """
    labels = np.bincount(tally.checked.person, tally.times, tally.everyone)
    everybody = [
        Person(
            confusion[number, :-1].tolist(),
            behind[number, :-1].sum(axis=1).tolist(),
            int(labels[number]),
            int(kinship.group[number]),
            float(kinship.within[kinship.group[number]]),
        )
        for number in range(tally.everyone)
    ]
    return Crowd(
        domains=dict(zip(tally.domains, prior[:-1].tolist(), strict=True)),
        elsewhere=prior[-1].tolist(),
        people=dict(zip(tally.people, everybody[:-1], strict=True)),
        stranger=everybody[-1],
        after=confusion[-1, -1].tolist(),
        among=kinship.among,
        floor=floor,
    )


def _share(share: float, of: float) -> Ends:
    return share, *score_interval(share, of)
