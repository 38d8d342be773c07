"""Formats evaluations as Markdown tables, for a shell and for a card. No torch."""

from collections.abc import Iterable, Sequence

from prm.evaluation import Report, Slice, StepSlice
from prm.evaluation.best_of_n import BestOfN
from prm.evaluation.evaluation import Evaluation
from prm.evaluation.metrics import format_metric, short
from prm.evaluation.prmbench import DIMENSIONS, Category, PRMBenchReport
from prm.formats.prmbench import CORRECT
from prm.messages import Message

STEP_COLUMNS = ("step AUROC", "position alone", "length alone", "step AUPRC", "ECE", "Brier")
COLUMNS = ("", "solutions", "ProcessBench F1", "first error", *STEP_COLUMNS)
PRMBENCH_COLUMNS = (
    "",
    "solutions",
    "steps",
    "PRMScore",
    "F1",
    "negative F1",
    "right steps found",
    "wrong steps found",
    "first error found",
)
POSITION_COLUMNS = ("position", "steps", "errors", *STEP_COLUMNS)


def report_table(report: Report) -> str:
    """The report as Markdown tables: solutions overall and by domain, generator and length; steps by position."""
    rows = [("all", report.overall)]
    rows += [(name or Message("no_domain_name"), part) for name, part in report.by_domain.items()]
    if len(report.by_generator) > 1:
        rows += [(f"by {name or '(no generator)'}", part) for name, part in report.by_generator.items()]
    rows += [(f"{name} steps", part) for name, part in report.by_length.items()]
    solutions = [_row(name, part) for name, part in rows]
    steps = [
        (name, str(part.n_steps), str(part.n_errors), *_step_cells(part)) for name, part in report.by_position.items()
    ]
    return markdown_table(COLUMNS, solutions) + "\n\n" + markdown_table(POSITION_COLUMNS, steps)


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells as a Markdown table, without a last line break."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def evaluation_tables(evaluation: Evaluation) -> str:
    """The tables of an evaluation with its model and data, as Markdown."""
    files = ", ".join(f"{name} (sha256 {digest[:12]})" for name, digest in evaluation.files.items())
    judged = evaluation.steps or evaluation.prmbench
    lines = [f"`{evaluation.model}` on {evaluation.data}: {files}, {evaluation.measured_at[:10]}."]
    if judged is not None:
        fitted = evaluation.fitted_on
        lines.append(f"A step counts as an error below {judged.threshold}. That was fitted on: {fitted}.")
    if evaluation.steps is not None:
        lines += ["", report_table(evaluation.steps), "", calibration_line(evaluation.steps)]
    if evaluation.prmbench is not None:
        lines += ["", prmbench_table(evaluation.prmbench)]
    if evaluation.best_of_n is not None:
        lines += ["", best_of_n_table(evaluation.best_of_n)]
    return "\n".join(lines) + "\n"


def calibration_line(report: Report) -> str:
    """ECE and Brier score before and after temperature, if both are known."""
    part = report.overall
    if part.raw_ece is None or part.raw_brier is None:
        return f"Calibration: ECE {format_metric(part.ece)}, Brier {format_metric(part.brier)}."
    return (
        f"Calibration before temperature: ECE {format_metric(part.raw_ece)}, Brier {format_metric(part.raw_brier)}; "
        f"after: ECE {format_metric(part.ece)}, Brier {format_metric(part.brier)}."
    )


def prmbench_table(report: PRMBenchReport) -> str:
    """PRMScore overall, by dimension and by category."""
    rows = [_category("all", report.overall)]
    for dimension, categories in DIMENSIONS.items():
        mean = format_metric(report.dimensions[dimension])
        rows.append((f"**{dimension}**", "", "", mean, *[""] * 5))
        rows += [
            _category(f"{abbreviation} {name}", report.categories[name])
            for name, abbreviation in categories.items()
            if name in report.categories
        ]
    if CORRECT in report.categories:
        rows.append(_category("(unchanged)", report.categories[CORRECT]))
    return markdown_table(PRMBENCH_COLUMNS, rows)


def best_of_n_table(report: BestOfN) -> str:
    """Shares of problems answered correctly, by N; in the last row the earliest candidate wins ties."""
    names = list(report.points[-1].selected)
    rows = [
        (
            str(point.n),
            *map(format_metric, (point.random, point.majority, point.oracle)),
            *(format_metric(point.selected[name]) for name in names),
        )
        for point in report.points
    ]
    largest, first = report.points[-1].n, report.first_of_ties
    rows.append(
        (f"{largest}, first of ties", "", "", "", *(short(first[name]) if name in first else "" for name in names))
    )
    note = (
        f"{report.n_candidates} candidates of {Message('n_problems', n=report.n_problems)}, "
        f"{report.n_unscored} not scored in full, {report.n_without_answer} without an answer."
    )
    return markdown_table(("N", "random", "majority", "oracle", *names), rows) + "\n\n" + note


def _row(name: str, part: Slice) -> tuple[str, ...]:
    first_errors = (part.processbench_f1, part.first_error_accuracy)
    return (name, str(part.n_solutions), *map(format_metric, first_errors), *_step_cells(part))


def _step_cells(part: StepSlice) -> tuple[str, ...]:
    metrics = (part.step_auroc, part.index_auroc, part.length_auroc, part.step_auprc, part.ece, part.brier)
    return tuple(map(format_metric, metrics))


def _category(name: str, part: Category) -> tuple[str, ...]:
    metrics = (part.prm_score, part.f1, part.negative_f1, part.right_step_accuracy, part.wrong_step_accuracy)
    cells = map(format_metric, (*metrics, part.first_error_accuracy))
    return (name, str(part.n_solutions), str(part.n_steps), *cells)
