"""Estimates for the pool from each generation's labels, weighted by their inclusion probabilities."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import msgspec
from django.db.models import Max

from annotation.labels.quality.batches import in_use
from annotation.loop.proof.arms import ARMS
from annotation.loop.selection.reading_times import LONGEST_SECONDS
from annotation.models import Annotation, Generation, ModelVersion, PoolScore, Project, QueueItem
from prm.acquisition.estimating import Estimate, hajek
from prm.evaluation import predicted_first_error


class LaneEstimates(msgspec.Struct):
    """The labelled items of one lane of one generation, and estimates for the whole pool.

    `first_error_rate`: the share of solutions with an error. `champion_accuracy`: the share whose first error the
    model that drew the generation had right, None without a model or its scores. `seconds`: to label one solution.
    """

    generation: int
    lane: str
    items: int
    labelled: int
    pool: int
    first_error_rate: Estimate | None
    champion_accuracy: Estimate | None
    seconds: Estimate | None


@dataclass(frozen=True)
class Labelled:
    """A drawn solution with its labels' words, averaged where it has several; `inclusion` its probability."""

    solution: int
    inclusion: float
    first_errors: Sequence[int]
    seconds: float | None


def estimates_of(project: Project) -> list[LaneEstimates]:
    """One entry for each of the two lanes of each generation with a label, the earliest first."""
    generations = project.generations.select_related("model_version").order_by("number")
    return [estimates for generation in generations for lane in ARMS if (estimates := _of_lane(generation, lane))]


def _of_lane(generation: Generation, lane: str) -> LaneEstimates | None:
    labelled = _labelled(generation, lane)
    if not labelled:
        return None
    predicted = _predicted(generation.model_version, [label.solution for label in labelled])

    def accuracy(label: Labelled) -> float | None:
        if label.solution not in predicted:
            return None
        return fmean(predicted[label.solution] == word for word in label.first_errors)

    return LaneEstimates(
        generation=generation.number,
        lane=lane,
        items=generation.items.filter(lane=lane).count(),
        labelled=len(labelled),
        pool=generation.pool_size,
        first_error_rate=_mean(labelled, lambda label: fmean(word >= 0 for word in label.first_errors), share=True),
        champion_accuracy=_mean(labelled, accuracy, share=True),
        seconds=_mean(labelled, lambda label: label.seconds),
    )


def _mean(
    labelled: Sequence[Labelled], value_of: Callable[[Labelled], float | None], *, share: bool = False
) -> Estimate | None:
    """The mean over all solutions that could have been drawn; a `share` lies in [0, 1]."""
    known = [(value, label.inclusion) for label in labelled if (value := value_of(label)) is not None]
    return hajek(*zip(*known, strict=True), bounds=(0.0, 1.0 if share else float("inf"))) if known else None


def _labelled(generation: Generation, lane: str) -> list[Labelled]:
    """The lane's items with a label that settles the first error, by each person's latest revision."""
    items = QueueItem.objects.filter(generation=generation, lane=lane, inclusion_probability__isnull=False)
    inclusion = {pk: chance for pk, chance in items.values_list("pk", "inclusion_probability") if chance is not None}
    words = in_use(Annotation.objects.filter(item__in=inclusion, adjudicates=False))
    latest = words.values("item", "annotator").annotate(last=Max("pk")).values("last")
    by_item: dict[int, list[tuple[int, int, int | None]]] = defaultdict(list)
    for item, solution, first_error, total_ms in Annotation.objects.filter(pk__in=latest).values_list(
        "item", "solution", "first_error", "total_ms"
    ):
        if item is not None and first_error is not None:
            by_item[item].append((solution, first_error, total_ms))
    return [
        Labelled(
            solution=words_of[0][0],
            inclusion=inclusion[item],
            first_errors=[first_error for _, first_error, _ in words_of],
            seconds=_seconds([ms for _, _, ms in words_of if ms]),
        )
        for item, words_of in sorted(by_item.items())
    ]


def _seconds(times: Sequence[int]) -> float | None:
    return fmean(min(ms / 1000, LONGEST_SECONDS) for ms in times) if times else None


def _predicted(version: ModelVersion | None, solutions: Sequence[int]) -> dict[int, int | None]:
    """The first error that the version's stored scores tell, by solution."""
    if version is None or "threshold" not in version.manifest:
        return {}
    rows = PoolScore.objects.filter(model_version=version, solution__in=solutions).values_list("solution", "mean")
    threshold = version.manifest["threshold"]
    return {solution: predicted_first_error(mean, threshold) for solution, mean in rows}
