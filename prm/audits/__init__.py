"""Audits: what a score leans on besides the steps it should read, each with a verdict by stated rule. No torch."""

from prm.audits.report import AuditReport, run_audits
from prm.audits.subject import AUDITS, Subject, Training

__all__ = ["AUDITS", "AuditReport", "Subject", "Training", "run_audits"]
