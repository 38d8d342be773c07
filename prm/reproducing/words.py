"""Formats the results of `reproduce` as Markdown tables. No torch."""

from collections.abc import Callable, Iterable, Sequence

from prm.cards import markdown_table
from prm.evaluation.metrics import format_metric
from prm.reproducing.measuring import Abstention, Line
from prm.reproducing.running import Report
from prm.reproducing.thresholds import CARRIED

PAIR = ("learned from", "measured on")
ONE_SET = "Nothing to compare: this needs a second set. Name another file under `--data`."


def tables(report: Report) -> str:
    """The sets, then AUROC and F1 of every judge, F1 by threshold rule, and abstention, for each pair of sets."""
    parts = [
        ("Sets", _sets(report)),
        ("Step AUROC up to the first error", _by_judge(report.lines, lambda line: format_metric(line.auroc))),
        (
            "Gain in AUROC over the best score without a model",
            _by_judge(
                [line for line in report.lines if line.judge.startswith("heads")],
                lambda line: format_metric(line.over_simple, signed=True),
            ),
        ),
        (
            "ProcessBench F1 with the threshold of the set learned from",
            _by_judge(report.lines, lambda line: format_metric(line.f1[CARRIED])),
        ),
        ("ProcessBench F1 by threshold rule", _by_rule(report.lines)),
        ("Abstention", _abstentions(report.abstentions)),
    ]
    return "\n\n".join(f"### {title}\n\n{table}" for title, table in parts)


def _sets(report: Report) -> str:
    rows = [
        (name, *map(str, (one.solutions, one.problems, one.erroneous, one.steps)), one.sha256[:12])
        for name, one in report.sets.items()
    ]
    return markdown_table(("set", "solutions", "problems", "wrong", "steps", "sha256"), rows)


def _by_judge(lines: Sequence[Line], cell: Callable[[Line], str]) -> str:
    judges = list(dict.fromkeys(line.judge for line in lines))
    cells = {(line.source, line.target, line.judge): cell(line) for line in lines}
    rows = [(*pair, *(cells[*pair, judge] for judge in judges)) for pair in _pairs(lines)]
    return markdown_table((*PAIR, *judges), rows)


def _by_rule(lines: Iterable[Line]) -> str:
    """Across sets only: within one set the threshold is carried from its own labels."""
    across = [line for line in lines if line.source != line.target]
    rules = list(dict.fromkeys(rule for line in across for rule in line.f1))
    rows = [
        (line.source, line.target, line.judge, *(format_metric(line.f1[r]) if r in line.f1 else "-" for r in rules))
        for line in across
    ]
    if not rows:
        return ONE_SET
    return markdown_table((*PAIR, "judge", *rules), rows)


def _abstentions(abstentions: Iterable[Abstention]) -> str:
    rows = [
        (
            one.source,
            one.target,
            one.judge,
            str(one.labels),
            *map(format_metric, (one.coverage, one.accuracy, one.accuracy_without)),
        )
        for one in abstentions
    ]
    if not rows:
        return ONE_SET
    columns = ("labels of the target", "verdicts given", "right among them", "right among all")
    return markdown_table((*PAIR, "judge", *columns), rows)


def _pairs(lines: Iterable[Line]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((line.source, line.target) for line in lines))
