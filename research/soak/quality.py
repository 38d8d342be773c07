"""Measures a project's champions again: on all holdout labels, and on the true labels of new solutions."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
from django.conf import settings

from annotation.files.identity import assign_split
from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
from annotation.loop.gateway.traces import write_holdout_traces
from annotation.models import Project
from prm.calibration import fit_threshold_on
from prm.evaluation import compare, evaluate
from prm.formats.trace_files import read_traces
from prm.labels import first_error
from prm.sandbox import WorldConfig, generate
from prm.scores import TraceScore
from prm.scoring import Scorer
from prm.threshold import Threshold
from prm.traces import Trace

FRESH_SOLUTIONS = 600
BOOTSTRAP = 1000
SPLITS = ("pool", "calibration", "holdout")


class Figure(msgspec.Struct, frozen=True):
    value: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


class Served(msgspec.Struct):
    """A model that served (number 0: the zero-label baseline), its F1, and the change from the model before."""

    number: int
    generation: int
    trained_on: int
    labels: Figure
    truth: Figure
    change_on_labels: Figure | None = None
    change_on_truth: Figure | None = None


def champion_history(project: Project, *, seed: int, folder: Path) -> list[Served]:
    """The models that served, in order after the zero-label baseline, measured on the same two sets."""
    sets = _final_labels(project, folder), fresh_truth(seed=seed)
    served = list(project.model_versions.filter(promoted_at__isnull=False).order_by("promoted_at"))
    scorers = [_baseline(project), *(Scorer.load(settings.STATE_ROOT / "models" / version.path) for version in served)]
    scores = [[list(scorer.score(traces)) for traces in sets] for scorer in scorers]
    history = [
        Served(
            number=version.number if version else 0,
            generation=version.run.number if version else 0,
            trained_on=version.manifest["counts"]["solutions"] if version else 0,
            labels=_f1(sets[0], own[0], scorer.threshold),
            truth=_f1(sets[1], own[1], scorer.threshold),
        )
        for version, scorer, own in zip([None, *served], scorers, scores, strict=True)
    ]
    for (_, after), (old, new), (old_scores, new_scores) in zip(
        pairwise(history), pairwise(scorers), pairwise(scores), strict=True
    ):
        thresholds = new.threshold, old.threshold
        after.change_on_labels = _change(sets[0], new_scores[0], old_scores[0], thresholds)
        after.change_on_truth = _change(sets[1], new_scores[1], old_scores[1], thresholds)
    return history


def falls(history: Sequence[Served], *, tolerance: float) -> list[str]:
    """The promotions of a model that is worse than its predecessor by more than the gate tolerates, in sentences."""
    found = []
    for before, after in pairwise(history):
        for what, change in (("labels", after.change_on_labels), ("truth", after.change_on_truth)):
            if before.number and change and change.value < -tolerance:
                found.append(f"model {after.number} is worse than model {before.number} on {what}: {change}")
    return found


def fresh_truth(*, seed: int, n: int = FRESH_SOLUTIONS) -> list[Trace]:
    """New sandbox solutions of source groups that every project holds out."""
    drawn = [trace for split in SPLITS for trace in generate(WorldConfig(), split=split, n=8 * n, seed=seed + 1)]
    held = [trace for trace in drawn if assign_split(trace.source_group) == "holdout"]
    return held[:: max(len(held) // n, 1)][:n]


def _final_labels(project: Project, folder: Path) -> list[Trace]:
    filters = {"source_kinds": project.policies.training_sources, "splits": ["holdout"]}
    snapshot = create_snapshot(by=None, project=project, filters=filters)
    path = folder / "final-holdout.jsonl"
    write_holdout_traces(read_snapshot(snapshot), path)
    return list(read_traces(path))


def _baseline(project: Project) -> Scorer:
    """The zero-label scorer, with a threshold fitted on the training data of the first run."""
    scorer = Scorer.for_base(project.policies.backbone)
    learned = settings.STATE_ROOT / "runs" / str(project.training_runs.earliest("number").pk) / "train.jsonl"
    known = [trace for trace in read_traces(learned) if first_error(trace) is not None]
    scorer.threshold = fit_threshold_on(known, scorer.score(known))
    return scorer


def _f1(traces: list[Trace], scores: list[TraceScore], threshold: Threshold) -> Figure:
    f1 = evaluate(traces, scores, threshold=threshold, bootstrap=BOOTSTRAP).overall.processbench_f1
    return Figure(f1.value, f1.low, f1.high)


def _change(
    traces: list[Trace], new: list[TraceScore], old: list[TraceScore], thresholds: tuple[Threshold, Threshold]
) -> Figure:
    found = compare(traces, new, old, thresholds=thresholds, bootstrap=BOOTSTRAP)
    return Figure(found.gain, found.low, found.high)
