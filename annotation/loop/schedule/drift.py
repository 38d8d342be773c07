"""Whether the champion's scores have moved since it was promoted.

The population stability index compares two samples over the deciles of the first: the sum over bins of
(q - p) * ln(q / p), which is Jeffreys' divergence of the binned shares (Kullback and Leibler 1951, eq. 2.6). In credit
scoring, 0.1 counts as a shift to look at and 0.25 as a large one.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt
from django.utils import timezone

from annotation.loop import registry
from annotation.models import ModelVersion, PoolScore, Project, RoundClock, ServedScore

BINS = 10
LEAST = 100  # scores in each sample; with fewer, chance alone gives 0.1 and more
MOST = 20_000
MEASURE_EVERY = timedelta(minutes=10)
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Drift:
    """The `index` of `n` new scores, `of` "imports" or "served"."""

    index: float
    of: str
    n: int


def stability_index(before: Scores, now: Scores) -> float:
    """Population stability index of two samples. Half a count is added to each bin, which keeps empty bins finite."""
    edges = np.quantile(before, np.linspace(0, 1, BINS + 1)[1:-1])
    shares = []
    for sample in (before, now):
        counts = np.bincount(np.searchsorted(edges, sample, side="right"), minlength=BINS) + 0.5
        shares.append(counts / counts.sum())
    p, q = shares
    return float(np.sum((q - p) * np.log(q / p)))


def measure(project: Project) -> Drift | None:
    """The larger drift of imported solutions and of served scores, since the champion's promotion and the last run.

    Both are compared with the pool at the time of the promotion. None if a sample is too small.
    """
    champion = registry.champion_of(project)
    if champion is None or champion.promoted_at is None:
        return None
    last = project.training_runs.first()
    since = max(champion.promoted_at, last.created_at) if last else champion.promoted_at
    before = _imported(champion, solution__created_at__lte=champion.promoted_at)
    if len(before) < LEAST:
        return None
    samples = {"imports": _imported(champion, solution__created_at__gt=since), "served": _served(champion, since)}
    drifts = [Drift(stability_index(before, now), of, len(now)) for of, now in samples.items() if len(now) >= LEAST]
    return max(drifts, key=lambda drift: drift.index, default=None)


def update_drift(project: Project) -> None:
    """Measure the drift, at most every ten minutes, and store it."""
    clock, _made = RoundClock.objects.get_or_create(project=project)
    if clock.measured_at is None or timezone.now() - clock.measured_at >= MEASURE_EVERY:
        drift = measure(project)
        clock.measured_at = timezone.now()
        clock.drift, clock.drift_of, clock.drift_n = (drift.index, drift.of, drift.n) if drift else (None, "", 0)
        clock.save(update_fields=["measured_at", "drift", "drift_of", "drift_n"])


def _imported(champion: ModelVersion, **when: datetime) -> Scores:
    rows = PoolScore.objects.filter(model_version=champion, score__isnull=False, **when).order_by("-solution_id")
    return np.array(rows.values_list("score", flat=True)[:MOST], dtype=np.float64)


def _served(champion: ModelVersion, since: datetime) -> Scores:
    rows = ServedScore.objects.filter(model_version=champion, asked_at__gt=since, score__isnull=False)
    return np.array(rows.order_by("-asked_at").values_list("score", flat=True)[:MOST], dtype=np.float64)
