"""Composes a generation: draws each lane, with the inclusion probability of each solution.

Lanes are drawn one after another (holdout, calibration, overlap, control, acquisition), each from the solutions that
the lanes before have left. An item's inclusion probability is therefore exact given those draws. The recipe has the
number of candidates of each lane.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.loop.selection.candidates import Candidates, Numbers, candidates_of, lengths_and_generators
from annotation.loop.selection.ranking import Ranking, codes_of
from annotation.models import LabelsWanted, Lane, LaneMix, Project
from annotation.models.generation import LaneRecipe, Recipe
from annotation.work.queue.items import Selection
from annotation.work.queue.turns import interleave
from prm import acquisition

RANDOM = "random"
Ranker = Callable[[Candidates, int, np.random.Generator], Ranking]  # of candidates and a budget


@dataclass(frozen=True)
class Plan:
    """The items of a generation in serving order, the number of candidates, and how they were drawn."""

    acquisition: str
    pool_size: int
    selections: list[Selection]
    shares: dict[str, int]
    recipe: Recipe


def compose(
    project: Project, *, rng: np.random.Generator, ranker: Ranker | None = None, acquisition: str = RANDOM
) -> Plan:
    """Draw all lanes. `ranker` fills the acquisition lane.

    Without one, the control lane gets its share too, and is drawn evenly from domains, lengths and generators.
    """
    policy = project.policies
    candidates = candidates_of(project)
    wanted = policy.queue.wanted
    shares = share_budget(policy.generation_budget, policy.mix)
    untouched = candidates.of_split("pool").lacking(1)
    lanes = _Lanes(candidates, wanted, rng)

    for lane, split in ((Lane.HOLDOUT, "holdout"), (Lane.CALIBRATION, "calibration")):
        lanes.draw(lane, candidates.of_split(split).lacking(getattr(wanted, lane)), shares[lane])
    begun = candidates.where(candidates.labels > 0).lacking(wanted.overlap)
    # At the start no solution has an annotation: the overlap lane then asks all of its annotators in this generation.
    lanes.draw(Lane.OVERLAP, begun if len(begun) else untouched, shares[Lane.OVERLAP])
    if ranker is None:
        lanes.draw_evenly(Lane.CONTROL, project, untouched, shares[Lane.CONTROL] + shares[Lane.ACQUISITION])
    else:
        lanes.draw(Lane.CONTROL, untouched, shares[Lane.CONTROL])
        lanes.rank(
            Lane.ACQUISITION,
            candidates.of_split("pool").lacking(wanted.acquisition),
            shares[Lane.ACQUISITION],
            ranker,
        )
    return Plan(
        acquisition=acquisition,
        pool_size=len(candidates),
        selections=lanes.in_serving_order(),
        shares={lane: len(some) for lane, some in lanes.chosen.items()},
        recipe=Recipe(lanes.recipes),
    )


class _Lanes:
    """The lanes drawn so far. No solution is in two of them."""

    def __init__(self, candidates: Candidates, wanted: LabelsWanted, rng: np.random.Generator) -> None:
        self.chosen: dict[str, list[Selection]] = {}
        self.recipes: dict[str, LaneRecipe] = {}
        self._candidates, self._wanted, self._rng = candidates, wanted, rng

    def draw(self, lane: str, candidates: Candidates, count: int) -> None:
        """Draw at random from the remaining candidates."""
        free = self._left_of(candidates)
        ids, probability = draw(free.ids, count, self._rng)
        rows = ((id_, probability, None, None) for id_ in ids.tolist())
        self._put(lane, rows, LaneRecipe(from_=len(free), drawn=len(ids), how="at random"))

    def draw_evenly(self, lane: str, project: Project, candidates: Candidates, count: int) -> None:
        """Draw at random, spread over domains, and within them over lengths and generators."""
        free = self._left_of(candidates)
        indices, probabilities = draw_evenly(free.domain, lengths_and_generators(project, free.ids), count, self._rng)
        rows = ((id_, p, None, None) for id_, p in zip(free.ids[indices].tolist(), probabilities.tolist(), strict=True))
        how = "at random within domain, length and generator"
        self._put(lane, rows, LaneRecipe(from_=len(free), drawn=len(indices), how=how))

    def rank(self, lane: str, candidates: Candidates, count: int, ranker: Ranker) -> None:
        ranking = ranker(self._left_of(candidates), count, self._rng)
        rows = ((item.id, item.inclusion_probability, item.gain, item.expected_seconds) for item in ranking.chosen)
        self._put(lane, rows, ranking.recipe)

    def in_serving_order(self) -> list[Selection]:
        """The items of all lanes, interleaved, with the order of each lane kept."""
        by_id = {selection.solution_id: selection for some in self.chosen.values() for selection in some}
        lanes = {lane: [selection.solution_id for selection in some] for lane, some in self.chosen.items()}
        return [by_id[id_] for _lane, id_ in interleave(lanes, self._rng)]

    def _left_of(self, candidates: Candidates) -> Candidates:
        return candidates.without(selection.solution_id for some in self.chosen.values() for selection in some)

    def _put(
        self,
        lane: str,
        rows: Iterable[tuple[int, float, float | None, float | None]],
        recipe: LaneRecipe,
    ) -> None:
        """Add a lane; `rows` are solution, inclusion probability, gain and expected seconds."""
        wanted: int = getattr(self._wanted, lane)
        chosen = list(rows)
        labels = self._candidates.labels_of([id_ for id_, *_ in chosen])
        self.chosen[lane] = [
            Selection(
                solution_id=id_,
                lane=lane,
                wanted=max(wanted - count, 1),
                inclusion_probability=probability,
                gain=gain,
                expected_seconds=seconds,
            )
            for (id_, probability, gain, seconds), count in zip(chosen, labels, strict=True)
        ]
        self.recipes[lane] = recipe


def share_budget(budget: int, mix: LaneMix) -> dict[str, int]:
    """Items of each lane, which sum to `budget`; acquisition gets the rest."""
    shares: dict[str, int] = {}
    remaining = budget
    for lane in (Lane.HOLDOUT, Lane.CALIBRATION, Lane.CONTROL, Lane.OVERLAP):
        shares[lane] = min(round(budget * getattr(mix, lane)), remaining)
        remaining -= shares[lane]
    shares[Lane.ACQUISITION] = remaining
    return shares


def draw(ids: Numbers, count: int, rng: np.random.Generator) -> tuple[Numbers, float]:
    """`count` of `ids` at random, in random order, and the inclusion probability of each."""
    count = min(count, len(ids))
    if count == 0:
        return ids[:0], 0.0
    return rng.choice(ids, size=count, replace=False), count / len(ids)


def draw_evenly(
    domain: Numbers, within: Sequence[Numbers], count: int, rng: np.random.Generator
) -> tuple[Numbers, NDArray[np.float64]]:
    """`count` indices in random order, spread over the domains and over further groups `within` each, and their
    inclusion probabilities. These are equal, except that they are higher in a domain that is otherwise too small."""
    if not len(domain) or count < 1:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    codes = [codes_of(group) for group in (domain, *within)]
    included = acquisition.even_probabilities(codes[0], count)
    drawn = rng.permutation(acquisition.draw_nested(included, codes, rng))
    return drawn, included[drawn]
