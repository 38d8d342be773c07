"""Measures scores on labelled traces, compares two models, and writes the model card."""

from collections.abc import Collection
from pathlib import Path

from annotation.core import storage
from annotation.loop.gateway.training import model_key, model_path
from annotation.models import ModelVersion
from prm import evaluation
from prm.cards.folder import EVALUATIONS_FOLDER, write_card
from prm.cards.model import FITTED_ON
from prm.errors import DataError
from prm.evaluation import Comparison, Metric, Report
from prm.evaluation.evaluation import Evaluation
from prm.files import write_json
from prm.formats.trace_files import read_traces
from prm.manifest import read_manifest
from prm.messages import Message
from prm.scores import read_scores
from prm.threshold import Threshold

REPORT_BOOTSTRAP, GATE_BOOTSTRAP = 200, 2000
EVALUATION = "holdout.json"


def report(data: Path, scores: Path, *, model: Path | None, threshold: Threshold, seed: int) -> Report:
    """The metrics of a model's scores on labelled traces, with intervals; a `model` of None is the baseline."""
    return evaluation.evaluate(
        list(read_traces(data)),
        read_scores(scores),
        threshold=threshold,
        temperature=None if model is None else read_manifest(model).temperature,
        bootstrap=REPORT_BOOTSTRAP,
        seed=seed,
    )


def headline(report: Report) -> Message:
    """The main figures of a report in a sentence."""
    overall = report.overall
    f1, auroc = _share(overall.processbench_f1), _share(overall.step_auroc)
    return Message("evaluation_headline", f1=f1, auroc=auroc, n=overall.n_solutions)


def compare(
    data: Path,
    *,
    challenger: Path,
    rival: Path,
    thresholds: tuple[Threshold, Threshold],
    seed: int,
    without: Collection[str] = (),
) -> Comparison | None:
    """The gain of one model's scores over another's on the same labels, in ProcessBench F1 and paired by problem.

    Solutions whose id is in `without` do not count. None if no domain has both erroneous and correct solutions.
    """
    try:
        return evaluation.compare(
            [trace for trace in read_traces(data) if trace.id not in without],
            list(read_scores(challenger)),
            list(read_scores(rival)),
            thresholds=thresholds,
            bootstrap=GATE_BOOTSTRAP,
            seed=seed,
        )
    except DataError:
        return None


def write_model_card(version: ModelVersion) -> None:
    """Write CARD.md; the figures of the holdout are those of `version.metrics`. Raises OSError, PRMError."""
    folder = model_path(version)
    if report := version.metrics.challenger:
        measured = Evaluation(
            model=f"model {version.number}",
            model_sha256=version.sha256,
            data="the project's holdout",
            files={"snapshot": version.snapshot.sha256} if version.snapshot else {},
            measured_at=version.metrics.measured_at or version.created_at.isoformat(),
            threshold=report.threshold,
            fitted_on=FITTED_ON[read_manifest(folder).fitted_on],
            steps=report,
        )
        (folder / EVALUATIONS_FOLDER).mkdir(exist_ok=True)
        write_json(folder / EVALUATIONS_FOLDER / EVALUATION, [measured])
    write_card(folder)
    storage.publish(model_key(version))


def _share(metric: Metric) -> Message:
    if metric.value is None:
        return Message("measured_share_unknown")
    if metric.low is None or metric.high is None:
        return Message("measured_share_alone", value=metric.value)
    return Message("measured_share", value=metric.value, low=metric.low, high=metric.high)
