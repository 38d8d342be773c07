"""The history of a project's generations, for the advice on when to stop."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Annotated, Any

from django.db.models import BigIntegerField, Count, F, Func, IntegerField, Sum
from django.db.models.functions import Least

from annotation.core.bounds import about
from annotation.labels.annotators.batches import in_use
from annotation.loop.selection.reading_times import LONGEST_SECONDS
from annotation.models import HIDDEN_LANES, Generation, ModelVersion, PoolScore, Project, ShadowComparison
from prm.acquisition import stopping

SAMPLE = 1000  # solutions of the pool on which two models are compared


@dataclass(frozen=True)
class GenerationResult:
    """The results of one generation; None is unknown.

    "Its model" is the one that serves after training on the generation.
    """

    generation: int
    labels: Annotated[int, about("Number of labels.")]
    seconds: Annotated[float, about("Time in seconds.")]
    f1: Annotated[float | None, about("ProcessBench F1 of its model on the holdout.")] = None
    f1_low: Annotated[float | None, about("Lower bound of the 95 % interval of `f1`.")] = None
    f1_high: Annotated[float | None, about("Upper bound of the 95 % interval of `f1`.")] = None
    holdout_gain: Annotated[float | None, about("Gain over the model before, on the holdout.")] = None
    gain: Annotated[float | None, about("Acquisition minus control, on equal labelling time.")] = None
    gain_low: Annotated[float | None, about("Lower bound of the 95 % interval of `gain`.")] = None
    gain_high: Annotated[float | None, about("Upper bound of the 95 % interval of `gain`.")] = None
    acquired_gain: Annotated[float | None, about("Gain of the acquisition lane over the common start.")] = None
    acquired_seconds: Annotated[float | None, about("Labelling time of the acquisition lane, in seconds.")] = None
    control_gain: Annotated[float | None, about("Gain of the control lane over the common start.")] = None
    control_seconds: float | None = None
    changed: Annotated[float | None, about("Share of the pool's verdicts that the new model changes.")] = None


def history_of(project: Project) -> list[GenerationResult]:
    """All generations, the earliest first; the open one has no results yet."""
    generations = list(project.generations.select_related("model_version").order_by("number"))
    labels = _labels(project)
    # The latest comparison of each generation comes last.
    compared = {comparison.generation: comparison for comparison in project.shadow_comparisons.order_by("pk")}
    history = []
    for generation, following in zip_longest(generations, generations[1:]):
        count, seconds = labels.get(generation.pk, (0, 0.0))
        counted = GenerationResult(generation=generation.number, labels=count, seconds=seconds)
        lanes = _lane_results(compared.get(generation.number))
        history.append(replace(counted, **_model_results(generation, following), **lanes))
    return history


def advise(history: Sequence[GenerationResult]) -> stopping.Advice:
    """Whether another generation is expected to pay, by the history without the open generation."""
    return stopping.advise(
        [
            stopping.Round(
                acquired_gain=generation.acquired_gain,
                acquired_seconds=generation.acquired_seconds,
                control_gain=generation.control_gain,
                control_seconds=generation.control_seconds,
                verdicts_changed=generation.changed,
                holdout_gain=generation.holdout_gain,
            )
            for generation in history[:-1]
        ]
    )


def _model_results(generation: Generation, following: Generation | None) -> dict[str, Any]:
    """The results of the model that serves after training on the generation."""
    before, after = generation.model_version, following.model_version if following else None
    if after is None:
        return {}
    f1 = after.metrics.f1
    return {
        "f1": f1 and f1.value,
        "f1_low": f1 and f1.low,
        "f1_high": f1 and f1.high,
        "holdout_gain": 0.0 if after == before else after.gate and after.gate.gain,
        "changed": share_changed(before, after),
    }


def _lane_results(comparison: ShadowComparison | None) -> dict[str, Any]:
    if comparison is None:
        return {}
    gains = {"gain": comparison.gain, "gain_low": comparison.low, "gain_high": comparison.high}
    if comparison.start_f1 is None:
        return gains
    return gains | {
        "acquired_gain": comparison.acquisition_f1 - comparison.start_f1,
        "acquired_seconds": comparison.acquisition_seconds,
        "control_gain": comparison.control_f1 - comparison.start_f1,
        "control_seconds": comparison.control_seconds,
    }


def share_changed(before: ModelVersion | None, after: ModelVersion | None) -> float | None:
    """The share of a pool sample on which two models predict different first errors; None if unknown."""
    if before is None or after is None or before == after:
        return None
    verdicts = []
    for version in (before, after):
        threshold = version.threshold
        if threshold is None:
            return None
        verdicts.append({pk: threshold.first_error(mean) for pk, mean in _sampled(version)})
    both = verdicts[0].keys() & verdicts[1].keys()
    return sum(verdicts[0][pk] != verdicts[1][pk] for pk in both) / len(both) if both else None


def _sampled(version: ModelVersion) -> list[tuple[int, list[float | None]]]:
    """The means of a sample of solutions: those with the smallest hashes, the same for every version."""
    spread = Func(F("solution_id"), function="hashint8", output_field=IntegerField())
    rows = PoolScore.objects.filter(model_version=version).order_by(spread)
    return list(rows.values_list("solution", "mean")[:SAMPLE])


def _labels(project: Project) -> dict[int, tuple[int, float]]:
    """Labels and seconds by generation; a longer time than LONGEST_SECONDS counts as that."""
    rows = (
        in_use(project.annotations.filter(revision=1, item__isnull=False).exclude(lane__in=HIDDEN_LANES))
        .values("item__generation")
        .annotate(n=Count("pk"), ms=Sum(Least("total_ms", int(LONGEST_SECONDS * 1000), output_field=BigIntegerField())))
        .order_by()
    )
    return {row["item__generation"]: (row["n"], (row["ms"] or 0) / 1000) for row in rows}
