"""Audits a version on the holdout that it was measured on; stores the findings and writes them into its card."""

import shutil

import msgspec

from annotation.core.errors import DomainError
from annotation.core.wording import as_message
from annotation.labels.datasets.snapshots import read_snapshot
from annotation.loop.gateway.measuring import write_model_card
from annotation.loop.gateway.traces import write_holdout_traces
from annotation.loop.gateway.training import model_path
from annotation.loop.model_jobs.library import run_command
from annotation.models import ModelJob, ModelVersion
from annotation.models.model_version import AuditFinding, AuditSummary
from prm.audits.report import AuditReport
from prm.messages import Message, from_json

FOLDER, DATA, PAGE, REPORT = "audit", "holdout.jsonl", "report.html", "report.json"


def check(version: ModelVersion) -> None:
    """Raises DomainError (`no_snapshot`) if the version has no holdout to audit on."""
    if version.snapshot_id is None:
        raise DomainError(Message("no_snapshot", n=version.number))


def perform(job: ModelJob) -> None:
    """Audit the version, store the findings and rewrite its card."""
    version = job.model_version
    assert version is not None
    check(version)
    assert version.snapshot is not None
    model = model_path(version)
    partial = model / f"{FOLDER}.partial"
    partial.mkdir(parents=True, exist_ok=True)
    try:
        if not write_holdout_traces(read_snapshot(version.snapshot), partial / DATA):
            raise DomainError(Message("no_holdout"))
        run_command(job, "audit", "--model", model, "--data", partial / DATA, "--out", partial)
        shutil.rmtree(model / FOLDER, ignore_errors=True)
        partial.rename(model / FOLDER)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    write_model_card(version)
    version.audits = _summary(msgspec.json.decode((model / FOLDER / REPORT).read_bytes(), type=AuditReport))
    version.save(update_fields=["audits"])


def _summary(report: AuditReport) -> AuditSummary:
    return AuditSummary(
        data=report.data,
        n_solutions=report.n_solutions,
        n_problems=report.n_problems,
        n_erroneous=report.n_erroneous,
        n_steps=report.n_steps,
        bootstrap=report.bootstrap,
        threshold=report.threshold,
        findings=[
            AuditFinding(
                title=as_message(from_json(one.messages["title"])),
                verdict=one.verdict,
                sentence=as_message(from_json(one.messages["sentence"])),
            )
            for one in report.findings
        ],
    )
