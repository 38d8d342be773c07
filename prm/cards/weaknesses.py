"""The known weaknesses of a model by its evaluations, one sentence each. No torch."""

from collections.abc import Iterator

from prm.evaluation import Report, Slice
from prm.evaluation.best_of_n import BestOfN
from prm.evaluation.evaluation import Evaluation
from prm.evaluation.prmbench import PRMBenchReport
from prm.evaluation.words import format_metric

ENOUGH = 10  # solutions of a slice, below which its figure is noise


def weaknesses(evaluation: Evaluation) -> list[str]:
    """The slices where the model is worst, and those where it is no better than a baseline."""
    sentences: list[str] = []
    if evaluation.steps is not None:
        sentences += _of_steps(evaluation.steps)
    if evaluation.prmbench is not None:
        sentences += _of_prmbench(evaluation.prmbench)
    if evaluation.best_of_n is not None:
        sentences += _of_best_of_n(evaluation.best_of_n)
    return sentences


def _of_steps(report: Report) -> Iterator[str]:
    whole = report.overall
    for kind, slices in {
        "domain": report.by_domain,
        "generator": report.by_generator,
        "number of steps": report.by_length,
    }.items():
        known = {name: part for name, part in slices.items() if _f1(part) is not None and part.n_solutions >= ENOUGH}
        if len(known) > 1:
            name = min(known, key=lambda one: _f1(known[one]) or 0.0)
            worst = known[name]
            f1, n = format_metric(worst.processbench_f1), worst.n_solutions
            yield f"By {kind} the lowest ProcessBench F1 is {f1}: {name or 'not named'}, {n} solutions."
    for name, metric in {"position": whole.index_auroc, "length": whole.length_auroc}.items():
        if metric.value is None or whole.step_auroc.low is None:
            continue
        baseline = max(metric.value, 1 - metric.value)  # by whichever end does better
        if whole.step_auroc.low <= baseline:
            auroc = format_metric(whole.step_auroc)
            yield f"Step AUROC {auroc} is not clearly above that of a step's {name} alone, {baseline:.3f}."
    if whole.n_unscored_steps:
        yield f"{whole.n_unscored_steps} steps of {whole.n_missed} solutions were not scored, and each is a miss."
    if whole.raw_ece is not None and (whole.raw_ece.value or 0) < (whole.ece.value or 0):
        before, after = format_metric(whole.raw_ece), format_metric(whole.ece)
        yield f"Temperature made calibration worse here: ECE {before} before, {after} after."


def _of_prmbench(report: PRMBenchReport) -> Iterator[str]:
    scores = {
        name: part.prm_score.value for name, part in report.categories.items() if part.prm_score.value is not None
    }
    if len(scores) > 1:
        name = min(scores, key=lambda one: scores[one] or 0.0)
        yield f"The lowest PRMScore is {format_metric(report.categories[name].prm_score)}: {name}."


def _of_best_of_n(report: BestOfN) -> Iterator[str]:
    last = report.points[-1]
    for name, metric in last.selected.items():
        if metric.value is not None and metric.value < (last.majority.value or 0):
            majority = format_metric(last.majority)
            yield f"Best of {last.n} by {name} is {format_metric(metric)}, below majority vote, {majority}."


def _f1(part: Slice) -> float | None:
    return part.processbench_f1.value
