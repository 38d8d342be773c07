"""Evaluates one model on one benchmark, for storage and the model card. No torch."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from prm.calibration import fit_threshold_on
from prm.errors import DataError
from prm.evaluation.best_of_n import BestOfN, best_of_n
from prm.evaluation.prmbench import PRMBenchReport, prm_score
from prm.evaluation.report import Report, evaluate
from prm.files import read_json
from prm.formats.benchmark import Benchmark
from prm.labels import problem_of
from prm.messages import Message
from prm.scores import TraceScore
from prm.threshold import Threshold
from prm.traces import Trace


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """The results of an evaluation. `files` maps names to SHA-256. `fitted_on` describes the data that the threshold
    was fitted on. Results that the data do not allow are None."""

    model: str
    model_sha256: str | None
    data: str
    files: dict[str, str]
    measured_at: str
    threshold: Threshold
    fitted_on: str
    steps: Report | None = None
    prmbench: PRMBenchReport | None = None
    best_of_n: BestOfN | None = None


def measure(
    benchmark: Benchmark,
    scores: Sequence[TraceScore],
    *,
    model: str,
    model_sha256: str | None = None,
    threshold: Threshold,
    fitted_on: str,
    temperature: float | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Evaluation:
    """Every metric that a benchmark's labels allow for these scores. Raises DataError if they do not match."""
    traces, judged = benchmark.traces, benchmark.judged
    return Evaluation(
        model=model,
        model_sha256=model_sha256,
        data=benchmark.name,
        files=benchmark.files,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        threshold=threshold,
        fitted_on=fitted_on,
        steps=evaluate(traces, scores, threshold=threshold, temperature=temperature, bootstrap=bootstrap, seed=seed)
        if judged == "steps"
        else None,
        prmbench=prm_score(traces, scores, threshold=threshold, bootstrap=bootstrap, seed=seed)
        if judged == "prmbench"
        else None,
        best_of_n=best_of_n(traces, scores, bootstrap=bootstrap, seed=seed)
        if judged == "best of n" or _is_pool(traces)
        else None,
    )


def check_labels(benchmark: Benchmark) -> None:
    """Raise DataError if no label of the benchmark can measure a model."""
    traces = benchmark.traces
    labelled = any(trace.first_error is not None or any(trace.labels or ()) for trace in traces)
    if benchmark.judged == "steps" and not labelled and not _is_pool(traces):
        raise DataError(Message("no_known_first_error", path=" and ".join(benchmark.files)))


def threshold_from(fitting: Benchmark, scores: Sequence[TraceScore], measured: Benchmark) -> tuple[Threshold, str]:
    """The best threshold on other labelled data, and the name of the data.

    Raises DataError if it shares a file or a problem with the measured data, or lacks erroneous or correct solutions.
    """
    if set(fitting.files.values()) & set(measured.files.values()):
        raise DataError(Message("threshold_fitted_on_measured_data"))
    shared = {problem_of(trace) for trace in fitting.traces} & {problem_of(trace) for trace in measured.traces}
    if shared:
        raise DataError(Message("threshold_data_overlaps", n=len(shared)))
    return fit_threshold_on(fitting.traces, scores), f"{' and '.join(fitting.files)} ({fitting.name})"


def read_evaluations(path: Path) -> list[Evaluation]:
    """The evaluations in a JSON file from `evaluate`. Raises DataError with file and field."""
    return read_json(path, list[Evaluation])


def _is_pool(traces: Sequence[Trace]) -> bool:
    """Whether every problem has several solutions, each known to be right or wrong."""
    counts = Counter(problem_of(trace) for trace in traces)
    known = all(trace.final_answer_correct is not None for trace in traces)
    return known and min(counts.values(), default=0) > 1
