"""Metrics of scores on labelled traces, and one model against another."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from annotation.loop.registry.verdict import Measured
from prm.messages import Message

if TYPE_CHECKING:
    from prm.evaluation.report import Comparison

REPORT_BOOTSTRAP, GATE_BOOTSTRAP = 200, 2000


def report(data: Path, scores: Path, *, model: Path | None, threshold: float, seed: int) -> dict[str, Any]:
    """The metrics of a model's scores (None: of no model) on labelled traces, each with its interval, as JSON."""
    from prm.evaluation import evaluate
    from prm.formats.trace_files import read_traces
    from prm.manifest import read_manifest
    from prm.scores import read_scores

    evaluation = evaluate(
        list(read_traces(data)),
        read_scores(scores),
        threshold=threshold,
        temperature=None if model is None else read_manifest(model).temperature,
        bootstrap=REPORT_BOOTSTRAP,
        seed=seed,
    )
    figures: dict[str, Any] = msgspec.to_builtins(evaluation)
    return figures


def headline(report: dict[str, Any]) -> Message:
    """The figures that sum a report up."""
    overall = report["overall"]
    f1, auroc = overall["processbench_f1"], overall["step_auroc"]
    return Message("evaluation_headline", f1=_percent(f1), auroc=_percent(auroc), n=overall["n_solutions"])


def compare(
    data: Path, *, challenger: Path, rival: Path, thresholds: tuple[float, float], seed: int
) -> Measured | None:
    """The challenger's gain in ProcessBench F1 over its rival on the same labels, paired by problem.

    None if no domain has both erroneous and correct solutions.
    """
    comparison = _compared(data, challenger, rival, thresholds, seed)
    if comparison is None or comparison.low is None or comparison.high is None:
        return None
    return Measured(
        gain=comparison.gain,
        low=comparison.low,
        high=comparison.high,
        solutions=comparison.n_solutions,
        problems=comparison.n_problems,
        samples=comparison.samples,
    )


@dataclass(frozen=True)
class ArmsMeasured:
    """Both lanes' ProcessBench F1 in [0, 1], and acquisition minus control.

    `low` and `high` bound the 95 % interval of the bootstrap paired by problem, None if no draw has a value.
    """

    acquisition_f1: float
    control_f1: float
    gain: float
    low: float | None
    high: float | None
    samples: list[float]
    solutions: int
    problems: int


def compare_arms(
    data: Path, *, acquisition: Path, control: Path, thresholds: tuple[float, float], seed: int
) -> ArmsMeasured | None:
    """The same for the models of both lanes; None where the labels cannot tell."""
    comparison = _compared(data, acquisition, control, thresholds, seed)
    if comparison is None:
        return None
    return ArmsMeasured(
        acquisition_f1=comparison.challenger,
        control_f1=comparison.champion,
        gain=comparison.gain,
        low=comparison.low,
        high=comparison.high,
        samples=comparison.samples,
        solutions=comparison.n_solutions,
        problems=comparison.n_problems,
    )


def _compared(
    data: Path, challenger: Path, rival: Path, thresholds: tuple[float, float], seed: int
) -> "Comparison | None":
    from prm import evaluation
    from prm.errors import DataError
    from prm.formats.trace_files import read_traces
    from prm.scores import read_scores

    try:
        return evaluation.compare(
            list(read_traces(data)),
            list(read_scores(challenger)),
            list(read_scores(rival)),
            thresholds=thresholds,
            bootstrap=GATE_BOOTSTRAP,
            seed=seed,
        )
    except DataError:
        return None


def _percent(metric: dict[str, float | None]) -> str:
    value, low, high = metric["value"], metric["low"], metric["high"]
    if value is None:
        return "unknown"
    return f"{value:.1%}" if low is None or high is None else f"{value:.1%} ({low:.1%} to {high:.1%})"
