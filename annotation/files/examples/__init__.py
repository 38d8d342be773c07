"""Bundled examples: small files to try the platform with, each with the template that suits it."""

from dataclasses import dataclass
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class BundledExample:
    name: str
    title: Promise
    template: str

    @property
    def path(self) -> Path:
        return Path(__file__).parent / f"{self.name}.jsonl"


EXAMPLES = {
    example.name: example
    for example in (
        BundledExample("word_problems", _("Maths problems"), "first_error"),
        BundledExample("candidate_steps", _("Candidate steps"), "prm800k_phase_1"),
        BundledExample("agent_runs", _("Agent runs"), "agent_run"),
        BundledExample("code_changes", _("Code changes"), "code_change"),
        BundledExample("support_replies", _("Support replies"), "policy_rubric"),
    )
}
