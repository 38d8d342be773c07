"""Audits of what a score depends on besides the steps, each with a verdict by a stated rule. No torch."""

from prm.audits.report import AuditReport, run_audits
from prm.audits.subject import AUDITS, Subject, Training

__all__ = ["AUDITS", "AuditReport", "Subject", "Training", "run_audits"]
