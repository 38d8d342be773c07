"""The generations of a project as the stopping advice sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from django.db.models import BigIntegerField, Count, F, Func, IntegerField, Sum
from django.db.models.functions import Least

from annotation.labels.quality.batches import in_use
from annotation.loop.selection.reading_times import LONGEST_SECONDS
from annotation.models import HIDDEN_LANES, Generation, ModelVersion, PoolScore, Project, ShadowComparison
from prm.acquisition import stopping
from prm.evaluation import predicted_first_error

SAMPLE = 1000  # of the pool, to see what two models say of it


@dataclass(frozen=True)
class GenerationSeen:
    """One generation as the project knows it; None is not known.

    `f1` in [0, 1] is on the holdout, of the model that serves since the generation was learned from; `holdout_gain`
    is that model's over the one before. `gain` is acquisition minus control on equal label-seconds; `acquired_gain` and
    `control_gain` are what each lane taught beyond the common start in `acquired_seconds` and `control_seconds`.
    `changed` is the share of pool verdicts in which the model differs from the one before.
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


def history_of(project: Project) -> list[GenerationSeen]:
    """Every generation, the earliest first; the open one has no results yet."""
    generations = list(project.generations.select_related("model_version").order_by("number"))
    labels = _labels(project)
    # The latest comparison of each generation comes last.
    compared = {comparison.generation: comparison for comparison in project.shadow_comparisons.order_by("pk")}
    history = []
    for generation, then in zip_longest(generations, generations[1:]):
        count, seconds = labels.get(generation.pk, (0, 0.0))
        seen = GenerationSeen(generation=generation.number, labels=count, seconds=seconds)
        history.append(replace(seen, **_then(generation, then), **_taught(compared.get(generation.number))))
    return history


def advise(history: Sequence[GenerationSeen]) -> stopping.Advice:
    """Whether another generation is expected to pay, by those that a model has learned from: all but the open one."""
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


def _then(generation: Generation, following: Generation | None) -> dict[str, Any]:
    """What the model is like that serves since the generation was learned from."""
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


def _taught(comparison: ShadowComparison | None) -> dict[str, Any]:
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
    """The share of a pool sample on which two models name different first errors; None if unknown."""
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
    """The same solutions for every version: those with the smallest hashes, which do not depend on their order."""
    spread = Func(F("solution_id"), function="hashint8", output_field=IntegerField())
    rows = PoolScore.objects.filter(model_version=version).order_by(spread)
    return list(rows.values_list("solution", "mean")[:SAMPLE])


def _labels(project: Project) -> dict[int, tuple[int, float]]:
    """Labels and seconds by generation; a break counts as its longest."""
    rows = (
        in_use(project.annotations.filter(revision=1, item__isnull=False).exclude(lane__in=HIDDEN_LANES))
        .values("item__generation")
        .annotate(n=Count("pk"), ms=Sum(Least("total_ms", int(LONGEST_SECONDS * 1000), output_field=BigIntegerField())))
        .order_by()
    )
    return {row["item__generation"]: (row["n"], (row["ms"] or 0) / 1000) for row in rows}
