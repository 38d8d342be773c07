"""Which of the pool a model would have labelled next."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from django.db.models.functions import Length

from annotation.models import ModelVersion, PoolScore, Project, Step
from annotation.rounds import costs
from annotation.rounds.gateway.choosing import Ranked, Scored, rank


def acquisition_of(project: Project) -> str:
    """The project's acquisition function; information about the *first* error means little where every
    step is rated, so that step-wise BALD takes its place there."""
    name = project.policies.acquisition
    if name == "first_error_bald" and not project.label_scheme.stop_at_first_error:
        return "step_bald"
    return name


def rank_pool(
    project: Project, model: ModelVersion, ids: Sequence[int], budget: int, rng: np.random.Generator
) -> list[Ranked]:
    """At most `budget` of the solutions `ids` that the model has scored, the most wanted first."""
    if budget == 0 or not ids:
        return []
    return rank(acquisition_of(project), scored_of(model, ids), budget=budget, cost=costs.cost_model(project), rng=rng)


def scored_of(model: ModelVersion, ids: Sequence[int]) -> list[Scored]:
    """The model's scores of those solutions of which it could score a step."""
    chars: dict[int, list[int]] = defaultdict(list)
    lengths = Step.objects.filter(solution__in=ids, alternative=0).order_by("solution", "position")
    for solution, length in lengths.values_list("solution", Length("text")):
        chars[solution].append(length)
    rows = PoolScore.objects.filter(model_version=model, solution__in=ids, score__isnull=False).order_by("solution")
    return [
        Scored(
            id=pk,
            problem_id=problem,
            domain=domain,
            heads=np.frombuffer(heads, dtype="<f2").reshape(len(chars[pk]) - unscored, -1).astype(float),
            step_chars=chars[pk],
            final_answer_correct=correct,
        )
        for pk, problem, domain, heads, unscored, correct in rows.values_list(
            "solution",
            "solution__problem",
            "solution__problem__domain",
            "heads",
            "unscored_steps",
            "solution__final_answer_correct",
        )
    ]
