"""Runs the audits of one model on one set of solutions, and reports on them."""

from collections.abc import Sequence
from random import Random

import msgspec

from prm.audits.finding import Finding
from prm.audits.ranking import rank_steps
from prm.audits.subject import AUDITS, Subject
from prm.evaluation.metrics import Metric, as_metric, format_metric
from prm.evaluation.report import processbench
from prm.messages import Message
from prm.threshold import Threshold

FORMAT_VERSION = 1


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """The names of model and data, metrics over all solutions, and one finding per audit.

    `model_sha256` is that of the weights; None for a model without any.
    `n_steps` counts rated and scored steps up to the first error, and `n_unscored` those beyond the context.
    """

    model: str
    model_sha256: str | None = None
    data: str
    threshold: Threshold
    seed: int
    bootstrap: int
    n_solutions: int
    n_problems: int
    n_erroneous: int
    n_steps: int
    n_errors: int
    n_unscored: int
    processbench_f1: Metric
    step_auroc: Metric
    index_auroc: Metric
    length_auroc: Metric
    findings: list[Finding]
    format_version: int = FORMAT_VERSION


def run_audits(
    subject: Subject, *, model: str, model_sha256: str | None = None, data: str, names: Sequence[str] = ()
) -> AuditReport:
    """Run the named audits, or all, each with its own random numbers, so that omitting one changes no other."""
    whole = rank_steps(subject)
    findings = []
    for name in names or AUDITS:
        subject.say(f"audit: {name}")
        findings.append(AUDITS.get(name)(subject, Random(f"{subject.seed}/{name}")))
    return AuditReport(
        model=model,
        model_sha256=model_sha256,
        data=data,
        threshold=subject.threshold,
        seed=subject.seed,
        bootstrap=subject.bootstrap,
        n_solutions=len(subject.traces),
        n_problems=subject.solutions.n_problems,
        n_erroneous=int(subject.solutions.erroneous.sum()),
        n_steps=whole.n_steps,
        n_errors=whole.n_errors,
        n_unscored=int(subject.solutions.unscored.sum()),
        processbench_f1=as_metric(processbench(subject.solutions, subject.draws)["processbench_f1"]),
        step_auroc=whole.scores,
        index_auroc=whole.index_only,
        length_auroc=whole.length_only,
        findings=findings,
    )


def audit_summary(report: AuditReport) -> str:
    """A summary in Markdown: heading, data and a table of verdicts."""
    rows = [f"| {one.title} | {one.verdict} | {_cell(one.sentence)} |" for one in report.findings]
    metrics = (report.step_auroc, report.index_auroc, report.length_auroc, report.processbench_f1)
    auroc, by_index, by_length, f1 = map(format_metric, metrics)
    lines = [
        f"## Audit on {report.data}",
        "",
        f"{Message('n_solutions', n=report.n_solutions)} of {Message('n_problems', n=report.n_problems)}, "
        f"{report.n_erroneous} with an error. Step AUROC {auroc}; position alone {by_index}, "
        f"length alone {by_length}. ProcessBench F1 {f1} at threshold {report.threshold}. "
        f"Brackets are 95 % intervals from {report.bootstrap} resamples of whole problems.",
        "",
        "| audit | verdict | finding |",
        "|---|---|---|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")
