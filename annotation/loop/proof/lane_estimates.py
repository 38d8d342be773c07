"""Estimates for the whole pool from each generation's labels, weighted by their inclusion probabilities."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated

import msgspec
from django.db.models import Max

from annotation.core.bounds import about
from annotation.labels.annotators.batches import in_use
from annotation.loop.proof.arms import ARMS
from annotation.loop.selection.reading_times import LONGEST_SECONDS
from annotation.models import Annotation, Generation, ModelVersion, PoolScore, Project, QueueItem
from prm.acquisition.estimating import Estimate, hajek


class LaneEstimates(msgspec.Struct):
    """The labelled items of one lane of one generation, and estimates for the whole pool."""

    generation: Annotated[int, about("The number of the generation.")]
    lane: str
    items: Annotated[int, about("Number of queue items.")]
    labelled: Annotated[int, about("Number of labelled items.")]
    pool: Annotated[int, about("Number of solutions in the pool.")]
    first_error_rate: Annotated[Estimate | None, about("Share of solutions with an error; null without labels.")]
    champion_accuracy: Annotated[
        Estimate | None, about("Share of first errors that the generation's model predicted; null without a model.")
    ]
    seconds: Annotated[Estimate | None, about("Time to label a solution, in seconds; null without times.")]


@dataclass(frozen=True)
class Labelled:
    """A drawn and labelled solution: its inclusion probability, each label's first error, and the mean time."""

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
        return fmean(predicted[label.solution] == first_error for first_error in label.first_errors)

    return LaneEstimates(
        generation=generation.number,
        lane=lane,
        items=generation.items.filter(lane=lane).count(),
        labelled=len(labelled),
        pool=generation.pool_size,
        first_error_rate=_mean(
            labelled, lambda label: fmean(first_error >= 0 for first_error in label.first_errors), share=True
        ),
        champion_accuracy=_mean(labelled, accuracy, share=True),
        seconds=_mean(labelled, lambda label: label.seconds),
    )


def _mean(
    labelled: Sequence[Labelled], value_of: Callable[[Labelled], float | None], *, share: bool = False
) -> Estimate | None:
    """The estimated mean over all solutions that could have been drawn; with `share`, the values are in [0, 1]."""
    known = [(value, label.inclusion) for label in labelled if (value := value_of(label)) is not None]
    return hajek(*zip(*known, strict=True), share=share) if known else None


def _labelled(generation: Generation, lane: str) -> list[Labelled]:
    """The lane's items with a label that settles the first error, by each person's latest revision."""
    items = QueueItem.objects.filter(generation=generation, lane=lane, inclusion_probability__isnull=False)
    inclusion = {pk: chance for pk, chance in items.values_list("pk", "inclusion_probability") if chance is not None}
    labels = in_use(Annotation.objects.filter(item__in=inclusion, adjudicates=False))
    latest = labels.values("item", "annotator").annotate(last=Max("pk")).values("last")
    by_item: dict[int, list[tuple[int, int, int | None]]] = defaultdict(list)
    for item, solution, first_error, total_ms in Annotation.objects.filter(pk__in=latest).values_list(
        "item", "solution", "first_error", "total_ms"
    ):
        if item is not None and first_error is not None:
            by_item[item].append((solution, first_error, total_ms))
    return [
        Labelled(
            solution=of_item[0][0],
            inclusion=inclusion[item],
            first_errors=[first_error for _, first_error, _ in of_item],
            seconds=_seconds([ms for _, _, ms in of_item if ms]),
        )
        for item, of_item in sorted(by_item.items())
    ]


def _seconds(times: Sequence[int]) -> float | None:
    return fmean(min(ms / 1000, LONGEST_SECONDS) for ms in times) if times else None


def _predicted(version: ModelVersion | None, solutions: Sequence[int]) -> dict[int, int | None]:
    """The first error that the version's stored scores predict, by solution."""
    threshold = version.threshold if version else None
    if threshold is None:
        return {}
    rows = PoolScore.objects.filter(model_version=version, solution__in=solutions).values_list("solution", "mean")
    return {solution: threshold.first_error(mean) for solution, mean in rows}
