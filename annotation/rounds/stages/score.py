"""Score what the champion has not scored yet of the pool."""

from annotation.models import PoolScore, Solution, Split
from annotation.rounds import costs, registry
from annotation.rounds.gateway.scoring import score_pool
from annotation.rounds.work import Outcome, StageWork

BATCH = 64


def perform(work: StageWork) -> Outcome:
    champion = registry.champion_of(work.project)
    if champion is None:
        return Outcome("no model serves", skipped=True)
    unscored = (
        Solution.objects.filter(project=work.project, split=Split.POOL)
        .exclude(pool_scores__model_version=champion)
        .order_by("pk")
    )
    ids = list(unscored.values_list("pk", flat=True))
    if not ids and work.run.model_version is None:
        return Outcome(f"model {champion.number} has scored the whole pool", skipped=True)
    cost = costs.cost_model(work.project)
    for start in range(0, len(ids), BATCH):
        solutions = (
            Solution.objects.filter(pk__in=ids[start : start + BATCH])
            .select_related("problem")
            .prefetch_related("steps")
        )
        PoolScore.objects.bulk_create(score_pool(champion, list(solutions), cost), ignore_conflicts=True)
        work.beat((start + BATCH) / len(ids))
    return Outcome(f"{len(ids):,} solutions scored by model {champion.number}")
