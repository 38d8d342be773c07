"""A first ranking without labels: by how unlikely a solution is to the backbone."""

from dataclasses import replace

import msgspec
import numpy as np

from annotation.loop.gateway.scoring import score_without_labels
from annotation.loop.selection import reading_times
from annotation.loop.selection.candidates import Candidates
from annotation.loop.selection.ranking import OUTCOMES, Ranking, codes_of, nothing_ranked, rank
from annotation.models import Project, Solution
from prm.acquisition import Pool

SURPRISAL = "surprisal"
SAMPLE = 5000  # solutions read, however large the pool
CHUNK = 256


def rank_by_surprise(project: Project, candidates: Candidates, budget: int, rng: np.random.Generator) -> Ranking:
    """At most `budget` of a random sample of the candidates, the least likely to the backbone first.

    Inclusion probabilities include the draw of the sample. Costs are for reading a whole solution, because the position
    of the first error is unknown. Raises DomainError (`model_unusable`).
    """
    size = min(len(candidates), max(SAMPLE, 4 * budget))
    if not size or not budget:
        return nothing_ranked(len(candidates))
    sample = candidates.where(np.sort(rng.choice(len(candidates), size=size, replace=False)))
    cost = msgspec.structs.replace(reading_times.cost_model(project), stops_at_error=False)
    caps = project.policies.caps
    ranking = rank(SURPRISAL, sample, _scored(project, sample), budget=budget, cost=cost, rng=rng, caps=caps)
    share = size / len(candidates)
    chosen = [replace(choice, inclusion_probability=choice.inclusion_probability * share) for choice in ranking.chosen]
    recipe = msgspec.structs.replace(
        ranking.recipe, from_=len(candidates), read=size, backbone=project.policies.backbone
    )
    return Ranking(chosen, recipe)


def _scored(project: Project, candidates: Candidates) -> Pool:
    p: list[np.ndarray] = []
    chars: list[np.ndarray] = []
    correct: list[int] = []
    for start in range(0, len(candidates), CHUNK):
        ids = candidates.ids[start : start + CHUNK].tolist()
        rows = Solution.objects.select_related("problem").prefetch_related("steps").in_bulk(ids)
        solutions = [rows[pk] for pk in ids]
        for solution, (own, lengths) in zip(
            solutions, score_without_labels(project.policies.backbone, solutions), strict=True
        ):
            p.append(own)
            chars.append(lengths)
            correct.append(OUTCOMES[solution.final_answer_correct])
    return Pool(
        problem=codes_of(candidates.problem),
        domain=codes_of(candidates.domain),
        steps=np.array([len(scores) for scores in p], dtype=np.int64),
        p=np.concatenate(p)[:, None],
        chars=np.concatenate(chars),
        correct=np.array(correct, dtype=np.int8),
    )
