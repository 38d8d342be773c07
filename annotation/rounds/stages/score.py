"""Score what the champion has not scored yet of the pool."""

from collections.abc import Iterator, Sequence
from itertools import islice

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
        .order_by("problem", "pk")
    )
    ids = list(unscored.values_list("pk", flat=True))
    if not ids and work.run.model_version is None:
        return Outcome(f"model {champion.number} has scored the whole pool", skipped=True)
    done, speed = 0, 0.0

    def beat(steps_per_second: float) -> None:
        nonlocal speed
        speed = steps_per_second
        work.beat(done / len(ids))

    rows = score_pool(champion, _solutions(ids), costs.cost_model(work.project), on_speed=beat)
    while batch := list(islice(rows, BATCH)):
        PoolScore.objects.bulk_create(batch, ignore_conflicts=True)
        done += len(batch)
        work.beat(done / len(ids))
    rate = f", {speed:,.0f} steps a second" if speed else ""
    return Outcome(f"{len(ids):,} solutions scored by model {champion.number}{rate}")


def _solutions(ids: Sequence[int]) -> Iterator[Solution]:
    """The solutions in this order, with what scoring needs of them."""
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        found = Solution.objects.select_related("problem").prefetch_related("steps").in_bulk(batch)
        yield from (found[pk] for pk in batch if pk in found)
