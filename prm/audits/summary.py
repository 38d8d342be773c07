"""The report in a few lines of Markdown, for a model card."""

from prm.audits.finding import plain
from prm.audits.report import AuditReport


def audit_summary(report: AuditReport) -> str:
    """A heading, what was audited, and a table of verdicts."""
    rows = [f"| {one.title} | {one.verdict} | {_cell(one.sentence)} |" for one in report.findings]
    lines = [
        f"## Audit on {report.data}",
        "",
        f"{report.n_solutions} solutions of {report.n_problems} problems, {report.n_erroneous} with "
        f"an error. Step AUROC {plain(report.step_auroc)}; position alone {plain(report.index_auroc)}, length alone "
        f"{plain(report.length_auroc)}. ProcessBench F1 {plain(report.processbench_f1)} at threshold "
        f"{report.threshold:.3f}. Brackets are 95 % intervals from {report.bootstrap} resamples of whole problems.",
        "",
        "| audit | verdict | found |",
        "|---|---|---|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")
