"""The registry of consensus models, which turn the votes on a solution into probabilities."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from prm.messages import Message
from prm.registry import Registry

Place = tuple[int, int]  # a completion of a solution: its position and alternative
Step = tuple[Hashable, int, int]  # a completion: its solution, position and alternative


class Vote(msgspec.Struct, frozen=True, gc=False):
    """One person's rating (1, 0 or -1) of one completion. `person` is an annotator or another source of labels."""

    solution: Hashable
    position: int
    person: str
    rating: int
    alternative: int = 0
    domain: str = ""

    @property
    def step(self) -> Step:
        return self.solution, self.position, self.alternative


class Evidence(msgspec.Struct, frozen=True):
    """What a model learns from: all votes, also those on steps that one person rated.

    `settled` has the certain ratings of steps, from gold and adjudications. `gold` are those of these steps that were
    chosen whatever the votes say, so that posteriors can be calibrated on them. `families` names the group of a person
    whose errors may be copies of others', such as the judges of one model family; a person without one is alone.
    """

    votes: Sequence[Vote]
    settled: Mapping[Step, int] = {}
    gold: Collection[Step] = ()
    families: Mapping[str, str] = {}


class Posterior(NamedTuple):
    """The probability of each rating of a step if no earlier step is bad, and the probability of that (`reached`)."""

    good: float
    neutral: float
    bad: float
    reached: float = 1.0


class Measured(msgspec.Struct, frozen=True):
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


class Reliability(Measured, frozen=True):
    """A person's informedness: how much more often they rate bad steps bad than other steps (Youden's J).

    1 is always right, 0 no better than chance, and below 0 misleading. `labels` counts the ratings behind it: those of
    steps that are settled or that somebody else rated too. `finds` is the share of bad steps that they rate bad (the
    rest they miss), `invents` that of other steps.
    """

    labels: int
    finds: Measured | None = None
    invents: Measured | None = None


class Fit(Protocol):
    """What a model learned. `parameters` are plain values for JSON, from which `restore` makes an equal fit.

    A fit may also have a `temperature`, by which it divides its evidence, and `groups` of people who err alike.
    """

    @property
    def parameters(self) -> Mapping[str, Any]: ...

    def posteriors(self, votes: Sequence[Vote]) -> Mapping[Step, Posterior]:
        """The posterior of each completion in these votes, which may be on many solutions."""
        ...

    def reliability(self, person: str) -> Reliability | None:
        """The reliability of a person, also of one without votes; None if the model does not measure it."""
        ...


class Estimate(Protocol):
    """Learns from the evidence. `start` has the parameters of an earlier fit, which is then usually near.

    If it returns None, every rating has the same weight.
    """

    def __call__(self, evidence: Evidence, *, start: Mapping[str, Any] | None = None) -> Fit | None: ...


Restore = Callable[[Mapping[str, Any]], Fit]  # makes a fit from its parameters


@dataclass(frozen=True)
class ConsensusModel:
    """A consensus model; `title` describes the weighting of labels on pages. Without `restore` it never learns."""

    estimate: Estimate
    restore: Restore | None
    title: str

    @property
    def learns(self) -> bool:
        return self.restore is not None


Kind = TypeVar("Kind", bound=Estimate)
CONSENSUS = Registry[ConsensusModel]("stepmark.consensus", Message("kind_consensus_model"), built_in=())


def consensus_model(name: str, *, restore: Restore | None = None, title: str = "") -> Callable[[Kind], Kind]:
    """Register the decorated function under a name; the arguments are fields of `ConsensusModel`."""

    def decorate(estimate: Kind) -> Kind:
        CONSENSUS.add(name, ConsensusModel(estimate, restore, title or name), module=estimate.__module__)
        return estimate

    return decorate
