"""The report in a few lines of Markdown, for a model card."""

from prm.audits.report import AuditReport
from prm.evaluation.words import format_metric


def audit_summary(report: AuditReport) -> str:
    """A heading, what was audited, and a table of verdicts."""
    rows = [f"| {one.title} | {one.verdict} | {_cell(one.sentence)} |" for one in report.findings]
    metrics = (report.step_auroc, report.index_auroc, report.length_auroc, report.processbench_f1)
    auroc, by_index, by_length, f1 = map(format_metric, metrics)
    lines = [
        f"## Audit on {report.data}",
        "",
        f"{report.n_solutions} solutions of {report.n_problems} problems, {report.n_erroneous} with "
        f"an error. Step AUROC {auroc}; position alone {by_index}, length alone {by_length}. ProcessBench F1 {f1} "
        f"at threshold {report.threshold:.3f}. Brackets are 95 % intervals from {report.bootstrap} resamples of whole "
        "problems.",
        "",
        "| audit | verdict | finding |",
        "|---|---|---|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")
