"""The registry of consensus models, which turn the votes on a step into probabilities."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from prm.messages import Message
from prm.registry import Registry

Words = Counter[tuple[str, int]]  # count of each (person, rating)


@dataclass(frozen=True)
class Vote:
    """One person's rating (1, 0 or -1) of one step."""

    step: Hashable
    person: str
    rating: int


class Trust(Protocol):
    """The estimated reliability of the annotators."""

    def posterior(self, words: Iterable[tuple[str, int]]) -> Iterable[float]:
        """Probability of good, neutral and bad after these (person, rating) pairs on one step."""
        ...


class Estimate(Protocol):
    """Learns from `votes` on shared steps. `settled` has the known ratings of steps, `alone` counts all other ratings.

    If it returns None, every rating has the same weight.
    """

    def __call__(
        self, votes: Sequence[Vote], *, settled: Mapping[Hashable, int], alone: Words | None
    ) -> Trust | None: ...


@dataclass(frozen=True)
class ConsensusModel:
    """A consensus model; `title` describes the weighting of labels on pages. If it does not learn, it gets no votes."""

    estimate: Estimate
    title: str
    learns: bool = True


Kind = TypeVar("Kind", bound=Estimate)
CONSENSUS = Registry[ConsensusModel]("stepmark.consensus", Message("kind_consensus_model"), built_in=())


def consensus_model(name: str, *, title: str = "", learns: bool = True) -> Callable[[Kind], Kind]:
    """Register the decorated function under a name; the arguments are fields of `ConsensusModel`."""

    def decorate(estimate: Kind) -> Kind:
        CONSENSUS.add(name, ConsensusModel(estimate, title or name, learns), module=estimate.__module__)
        return estimate

    return decorate
