"""The history of a project's generations, for the advice on when to stop."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from django.db.models import BigIntegerField, Count, F, Func, IntegerField, Sum
from django.db.models.functions import Least

from annotation.labels.annotators.batches import in_use
from annotation.loop.selection.reading_times import LONGEST_SECONDS
from annotation.models import HIDDEN_LANES, Generation, ModelVersion, PoolScore, Project, ShadowComparison
from prm.acquisition import stopping
from prm.evaluation import predicted_first_error

SAMPLE = 1000  # solutions of the pool on which two models are compared


@dataclass(frozen=True)
class GenerationResult:
    """The results of one generation; None is unknown.

    "Its model" is the one that serves after training on the generation. `f1` in [0, 1] is its ProcessBench F1 on the
    holdout, and `holdout_gain` its gain over the model before. `gain` is acquisition minus control on equal
    label-seconds. `acquired_gain` and `control_gain` are the gains of each lane over the common start, in
    `acquired_seconds` and `control_seconds`. `changed` is the share of pool verdicts that differ from the model before.
    """

    generation: int
    labels: int
    seconds: float
    f1: float | None = None
    f1_low: float | None = None
    f1_high: float | None = None
    holdout_gain: float | None = None
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    acquired_gain: float | None = None
    acquired_seconds: float | None = None
    control_gain: float | None = None
    control_seconds: float | None = None
    changed: float | None = None


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
    thresholds = [version.manifest.get("threshold") for version in (before, after)]
    if None in thresholds:
        return None
    verdicts = [
        {pk: predicted_first_error(mean, threshold) for pk, mean in _sampled(version)}
        for version, threshold in zip((before, after), thresholds, strict=True)
    ]
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
