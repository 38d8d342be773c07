"""Model versions' holdout F1 with its interval."""

from dataclasses import dataclass
from typing import Any

from annotation.models import ModelVersion, Project


@dataclass(frozen=True)
class Score:
    """A metric in [0, 1] with its 95 % interval."""

    value: float
    low: float | None
    high: float | None


def holdout_f1(version: ModelVersion) -> Score | None:
    """ProcessBench F1 of the version on the holdout, None if it was not measured."""
    return _score(version.measurement.challenger)


def baseline_f1(version: ModelVersion) -> Score | None:
    """The same of the zero-label baseline, measured beside it."""
    return _score(version.measurement.baseline)


def versions_with_scores(project: Project) -> list[tuple[ModelVersion, Score | None]]:
    """All versions, oldest first."""
    versions = project.model_versions.order_by("number").defer("manifest")
    return [(version, holdout_f1(version)) for version in versions]


def _score(report: dict[str, Any] | None) -> Score | None:
    f1 = ((report or {}).get("overall") or {}).get("processbench_f1")
    if not f1 or f1.get("value") is None:
        return None
    return Score(f1["value"], f1.get("low"), f1.get("high"))
